#include "collect/posix/objects.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace stepscope::collect::posix {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kJumpSlot = R_X86_64_JUMP_SLOT, kAddressSlot = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr std::uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT, kAddressSlot = R_AARCH64_GLOB_DAT;
#endif

std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char letter : name) hash = hash * 33 + static_cast<unsigned char>(letter);
  return hash;
}

}  // namespace

Object::Object(const dl_phdr_info& info) : name_(info.dlpi_name), base_(info.dlpi_addr) {
  const std::uintptr_t page = static_cast<std::uintptr_t>(::getpagesize());
  const Elf64_Dyn* dynamic = nullptr;
  for (const Elf64_Phdr& part : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    const std::uintptr_t at = base_ + part.p_vaddr;
    if (part.p_type == PT_LOAD) {
      begin_ = std::min(begin_, at);
      end_ = std::max(end_, at + part.p_memsz);
    } else if (part.p_type == PT_DYNAMIC) {
      dynamic = reinterpret_cast<const Elf64_Dyn*>(at);
    } else if (part.p_type == PT_GNU_RELRO) {
      fixed_begin_ = at & ~(page - 1);
      fixed_end_ = (at + part.p_memsz) & ~(page - 1);
    }
  }
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) read_dynamic(dynamic);
  if (symbols_ == nullptr || strings_ == nullptr) relocations_[0] = relocations_[1] = {};
}

void Object::read_dynamic(const Elf64_Dyn* entry) {
  // The dynamic linker has made addresses of offsets, except in the kernel's own object.
  const std::uintptr_t value = entry->d_un.d_ptr, at = value < base_ ? base_ + value : value;
  switch (entry->d_tag) {
    case DT_SYMTAB:
      symbols_ = reinterpret_cast<const Elf64_Sym*>(at);
      break;
    case DT_STRTAB:
      strings_ = reinterpret_cast<const char*>(at);
      break;
    case DT_GNU_HASH:
      hashes_ = reinterpret_cast<const std::uint32_t*>(at);
      break;
    case DT_JMPREL:
      relocations_[0].first = reinterpret_cast<const Elf64_Rela*>(at);
      relocations_[0].late = true;
      break;
    case DT_PLTRELSZ:
      relocations_[0].count = value / sizeof(Elf64_Rela);
      break;
    case DT_RELA:
      relocations_[1].first = reinterpret_cast<const Elf64_Rela*>(at);
      break;
    case DT_RELASZ:
      relocations_[1].count = value / sizeof(Elf64_Rela);
      break;
    default:
      break;
  }
}

bool Object::defines(std::string_view symbol) const {
  if (hashes_ == nullptr || symbols_ == nullptr || strings_ == nullptr) return false;
  const std::uint32_t buckets = hashes_[0], first = hashes_[1], words = hashes_[2], shift = hashes_[3];
  const auto* filter = reinterpret_cast<const std::uint64_t*>(hashes_ + 4);
  const auto* bucket = reinterpret_cast<const std::uint32_t*>(filter + words);
  const std::uint32_t* chain = bucket + buckets;
  if (buckets == 0 || words == 0) return false;
  const std::uint32_t hash = gnu_hash(symbol);
  const std::uint64_t wanted = std::uint64_t{1} << hash % 64 | std::uint64_t{1} << (hash >> shift) % 64;
  if ((filter[hash / 64 % words] & wanted) != wanted) return false;
  std::uint32_t at = bucket[hash % buckets];
  if (at < first) return false;
  for (;; ++at) {
    const std::uint32_t found = chain[at - first];
    if ((found | 1) == (hash | 1) && symbols_[at].st_shndx != SHN_UNDEF &&
        symbol == strings_ + symbols_[at].st_name)
      return true;
    if ((found & 1) != 0) return false;
  }
}

const char* Object::function_of(const Elf64_Rela& relocation,
                                std::span<const std::string_view> beginnings) const {
  const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info));
  if (type != kJumpSlot && type != kAddressSlot) return nullptr;
  const Elf64_Sym& symbol = symbols_[ELF64_R_SYM(relocation.r_info)];
  if (symbol.st_shndx != SHN_UNDEF) return nullptr;
  const char* name = strings_ + symbol.st_name;
  for (const std::string_view beginning : beginnings)
    if (std::strncmp(name, beginning.data(), beginning.size()) == 0) return name;
  return nullptr;
}

bool Object::set(void** place, void* value) const {
  const auto at = reinterpret_cast<std::uintptr_t>(place);
  const auto page = static_cast<std::uintptr_t>(::getpagesize());
  void* first = reinterpret_cast<void*>(at & ~(page - 1));
  const bool fixed = fixed_begin_ <= at && at < fixed_end_;
  if (fixed && ::mprotect(first, page, PROT_READ | PROT_WRITE) != 0) return false;
  std::atomic_ref(*place).store(value, std::memory_order_release);
  if (fixed) ::mprotect(first, page, PROT_READ);
  return true;
}

}  // namespace stepscope::collect::posix
