// Memory of devices. PyTorch's allocators of devices report each allocation and free, with their totals, to a
// function of libc10, which passes it on only to PyTorch's own profiler. They call it through the tables of
// imported functions of their libraries: those entries are pointed at a function here, which records the
// report and passes it on. Works for every device and thread, and asks nothing of Python or CUDA's headers.
#include "collect/torch/device_memory.h"

#include <c10/core/Allocator.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string_view>

#include "collect/recorder.h"

namespace stepscope::collect {
namespace {

/// c10's function; in older PyTorch its totals are signed. Both are called alike.
constexpr std::string_view kReports[] = {"_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE",
                                         "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE"};

#if defined(__aarch64__)
constexpr std::uint32_t kImports[] = {R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT};
#else
constexpr std::uint32_t kImports[] = {R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT};
#endif

bool is_host(c10::DeviceType type) {
  return type == c10::DeviceType::CPU || type == c10::DeviceType::MKLDNN || type == c10::DeviceType::IDEEP;
}

void record_report(const void* address, std::int64_t bytes, std::size_t allocated, std::size_t reserved,
                   c10::Device device) {
  Recorder* recorder = stepscope_recorder.load(std::memory_order_acquire);
  if (recorder == nullptr || (recorder->flags & record::kMemory) == 0 || is_host(device.type())) return;
  Thread* thread = thread_of(*recorder);
  if (thread == nullptr || !has_room(*thread)) return;
  auto& memory = next<record::DeviceMemory>(*thread, record::Type::memory);
  memory.tick = ticks(recorder->clock);
  memory.address = reinterpret_cast<std::uint64_t>(address);
  memory.bytes = bytes;
  memory.value = static_cast<std::uint8_t>(device.type()) |
                 static_cast<std::uint32_t>(static_cast<std::uint8_t>(device.index() + 1)) << 8U;
  memory.allocated = allocated;
  memory.reserved = reserved;
  commit(*thread, memory);
}

/// In place of c10's function, in the libraries that call it.
void report(void* address, std::int64_t bytes, std::size_t allocated, std::size_t reserved,
            c10::Device device) {
  record_report(address, bytes, allocated, reserved, device);
  // In a generic function, so that a PyTorch whose function takes other arguments still compiles.
  [](auto... arguments) {
    if constexpr (requires { c10::reportMemoryUsageToProfiler(arguments...); })
      c10::reportMemoryUsageToProfiler(arguments...);
  }(address, bytes, allocated, reserved, device);
}

/// The parts of a loaded library that lead to its imports.
struct Library {
  const ElfW(Rela) * relocations[2] = {};
  std::size_t counts[2] = {};
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::uintptr_t base = 0, sealed_begin = 0, sealed_end = 0;  ///< sealed: read-only once it is loaded
  bool is_ours = false;

  explicit Library(const dl_phdr_info& info) : base(info.dlpi_addr) {
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = info.dlpi_phdr[i];
      const std::uintptr_t to_report = reinterpret_cast<std::uintptr_t>(report) - base - part.p_vaddr;
      is_ours |= part.p_type == PT_LOAD && to_report < part.p_memsz;
      if (part.p_type == PT_DYNAMIC) read(reinterpret_cast<const ElfW(Dyn)*>(base + part.p_vaddr));
      if (part.p_type != PT_GNU_RELRO) continue;
      sealed_begin = base + part.p_vaddr;
      sealed_end = sealed_begin + part.p_memsz;
    }
  }
  bool is_whole() const { return symbols != nullptr && names != nullptr; }

 private:
  /// The loader has turned most addresses of the table into absolute ones, but not those of every library.
  template <class T>
  const T* at(std::uintptr_t address) const {
    return reinterpret_cast<const T*>(address < base ? base + address : address);
  }
  void read(const ElfW(Dyn) * entry) {
    for (; entry->d_tag != DT_NULL; ++entry) {
      const auto value = static_cast<std::uintptr_t>(entry->d_un.d_val);
      if (entry->d_tag == DT_SYMTAB) symbols = at<ElfW(Sym)>(value);
      if (entry->d_tag == DT_STRTAB) names = at<char>(value);
      if (entry->d_tag == DT_RELA) relocations[0] = at<ElfW(Rela)>(value);
      if (entry->d_tag == DT_RELASZ) counts[0] = value / sizeof(ElfW(Rela));
      if (entry->d_tag == DT_JMPREL) relocations[1] = at<ElfW(Rela)>(value);
      if (entry->d_tag == DT_PLTRELSZ) counts[1] = value / sizeof(ElfW(Rela));
    }
  }
};

void redirect(const Library& library, std::uintptr_t entry) {
  auto* const target = reinterpret_cast<std::atomic<void*>*>(entry);
  if (target->load(std::memory_order_relaxed) == reinterpret_cast<void*>(report)) return;
  const auto page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto* const page = reinterpret_cast<void*>(entry & ~(page_bytes - 1));
  const bool is_sealed = entry >= library.sealed_begin && entry < library.sealed_end;
  if (is_sealed && ::mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return;
  target->store(reinterpret_cast<void*>(report), std::memory_order_release);
  if (is_sealed) ::mprotect(page, page_bytes, PROT_READ);
}

int redirect_in(dl_phdr_info* info, std::size_t, void*) {
  const Library library(*info);
  if (library.is_ours || !library.is_whole()) return 0;
  for (int table = 0; table < 2; ++table)
    for (std::size_t i = 0; library.relocations[table] != nullptr && i < library.counts[table]; ++i) {
      const ElfW(Rela)& one = library.relocations[table][i];
      const auto kind = static_cast<std::uint32_t>(ELF64_R_TYPE(one.r_info));
      if (kind != kImports[0] && kind != kImports[1]) continue;
      const ElfW(Sym)& symbol = library.symbols[ELF64_R_SYM(one.r_info)];
      const std::string_view name = library.names + symbol.st_name;
      if (symbol.st_shndx == SHN_UNDEF && (name == kReports[0] || name == kReports[1]))
        redirect(library, library.base + one.r_offset);
    }
  return 0;
}

}  // namespace

void watch_device_memory() { ::dl_iterate_phdr(redirect_in, nullptr); }

}  // namespace stepscope::collect
