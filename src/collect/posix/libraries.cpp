#include "collect/posix/libraries.h"

#include <dlfcn.h>

#include <cstring>

#include "collect/posix/objects.h"
#include "collect/posix/wrap.h"

namespace stepscope::collect::posix {
namespace {

constexpr std::uint32_t kMostLibraries = 8, kMostCandidates = 32;
constexpr std::string_view kBeginnings[] = {"H5F", "H5D", "H5A", "MPI_File_", "PMPI_File_"};
constexpr std::string_view kQuestions[] = {"H5Iget_type",
                                           "H5Fget_name",
                                           "H5Iget_name",
                                           "H5Sget_select_npoints",
                                           "H5Tget_size",
                                           "H5Dget_space",
                                           "H5Aget_space",
                                           "H5Sclose",
                                           "PMPI_Type_size",
                                           "PMPI_Get_count",
                                           "PMPI_Get_count_c",
                                           "PMPI_File_get_position",
                                           "PMPI_File_get_byte_offset"};
static_assert(std::size(kQuestions) == static_cast<std::size_t>(Question::count_));

Library libraries[kMostLibraries];
std::atomic<std::uint32_t> library_count{0};
std::uint32_t target_counts[record::kLibraryFunctions];

/// Counts of the dynamic linker when objects were looked at: loaded so far, and unloaded.
struct Loads {
  unsigned long long added = 0, removed = 0;
  bool operator==(const Loads&) const = default;
};
Loads looked_at;
std::atomic<bool> is_looking{false}, is_adding{false};

/// A set of objects, by their base.
class Objects {
 public:
  bool has(std::uintptr_t base) const { return bases_[place(base)] == base + 1; }
  void add(std::uintptr_t base) {
    if (count_ == kMost / 2) clear();
    if (!has(base)) ++count_;
    bases_[place(base)] = base + 1;
  }
  void clear() {
    std::memset(bases_, 0, sizeof bases_);
    count_ = 0;
  }

 private:
  static constexpr std::size_t kMost = 4096;
  std::size_t place(std::uintptr_t base) const {
    std::size_t at = (base >> 12) % kMost;
    while (bases_[at] != 0 && bases_[at] != base + 1) at = (at + 1) % kMost;
    return at;
  }
  std::uintptr_t bases_[kMost] = {};
  std::size_t count_ = 0;
};
Objects known;  // that were looked at as libraries
Objects done;   // whose slots are replaced

template <class Take>
void for_each_object(Take take) {
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) { return (*static_cast<Take*>(data))(*info) ? 0 : 1; },
      &take);
}

Loads loads() {
  Loads now;
  for_each_object([&](const dl_phdr_info& info) {
    now = {info.dlpi_adds, info.dlpi_subs};
    return false;
  });
  return now;
}

const Library* library_at(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::uint32_t count = library_count.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < count; ++i)
    if (libraries[i].begin <= at && at < libraries[i].end) return &libraries[i];
  return nullptr;
}

/// Programs and tools may define some of the functions to look on; a copy has all. hid_t has 64 bits since
/// HDF5 1.10, which brought the function for a file with one writer.
bool is_copy(const Object& object, IoLibrary which) {
  return which == IoLibrary::hdf5 ? object.defines("H5Dread") && object.defines("H5get_libversion") &&
                                        object.defines("H5Fstart_swmr_write")
                                  : object.defines("PMPI_File_open") && object.defines("PMPI_Type_size");
}

/// Objects, to be used when the dynamic linker's list is free again.
struct Candidates {
  struct {
    char name[PATH_MAX];
    IoLibrary which;
  } all[kMostCandidates];
  std::uint32_t count = 0;

  void add(const char* name, IoLibrary which = {}) {
    if (count == kMostCandidates || std::strlen(name) >= PATH_MAX) return;
    std::strcpy(all[count].name, name);
    all[count++].which = which;
  }
};
Candidates candidates;

/// Waits until another thread that loads the object has done so. Null: it is gone.
void* kept_open(const char* name, int more = 0) {
  return ::dlopen(name[0] == '\0' ? nullptr : name, RTLD_LAZY | RTLD_NOLOAD | more);
}

void find_library(const char* name, IoLibrary which) {
  const std::uint32_t number = library_count.load(std::memory_order_relaxed);
  void* handle = number == kMostLibraries ? nullptr : kept_open(name, RTLD_NODELETE);
  if (handle == nullptr) return;
  Library& library = libraries[number];
  library = {which, 0, 0, {}};
  for (std::size_t i = 0; i < std::size(kQuestions); ++i)
    library.answers[i] = ::dlsym(handle, kQuestions[i].data());
  for_each_object([&](const dl_phdr_info& info) {
    const Object object(info);
    if (std::strcmp(object.name(), name) != 0 || !is_copy(object, which)) return true;
    library.begin = object.begin();
    library.end = object.end();
    return false;
  });
  if (library.end != 0) library_count.store(number + 1, std::memory_order_release);
}

void find_libraries() {
  candidates.count = 0;
  for_each_object([](const dl_phdr_info& info) {
    if (known.has(info.dlpi_addr)) return true;
    known.add(info.dlpi_addr);
    const Object object(info);
    if (library_at(reinterpret_cast<void*>(object.begin())) != nullptr) return true;
    for (const IoLibrary which : {IoLibrary::hdf5, IoLibrary::mpi_io})
      if (is_copy(object, which)) candidates.add(object.name(), which);
    return true;
  });
  for (std::uint32_t i = 0; i < candidates.count; ++i)
    find_library(candidates.all[i].name, candidates.all[i].which);
}

std::uint32_t index_of(LibraryFunction function) {
  return static_cast<std::uint32_t>(function) - record::kFirstLibraryFunction;
}

/// The function by the name in a caller's table, which may be that of the profiling interface.
LibraryFunction function_of(std::string_view name) {
  if (name.starts_with("PMPI_")) name.remove_prefix(1);
  for (std::uint32_t i = 0; i < record::kLibraryFunctions; ++i)
    if (record::kLibraryCallees[i].name == name)
      return static_cast<LibraryFunction>(record::kFirstLibraryFunction + i);
  return LibraryFunction::end_;
}

/// The number of the target; kTargets: there are too many.
std::uint32_t number_of(LibraryFunction function, const Target& wanted) {
  for (int tries = 0; is_adding.exchange(true, std::memory_order_acquire); ++tries)
    if (tries == 10'000) return kTargets;
  Target* all = targets[index_of(function)];
  std::uint32_t& count = target_counts[index_of(function)];
  std::uint32_t number = 0;
  while (number < count &&
         (all[number].function != wanted.function || all[number].late_slot != wanted.late_slot))
    ++number;
  if (number == count && count < kTargets) all[count++] = wanted;
  is_adding.store(false, std::memory_order_release);
  return number;
}

/// The wrapper that leads to the target; null: there is none.
void* wrapper_for(LibraryFunction function, const Target& wanted) {
  const std::uint32_t number = number_of(function, wanted);
  if (number == kTargets) return nullptr;
  return library_of(function) == IoLibrary::hdf5 ? hdf5_wrapper(function, number)
                                                 : mpi_wrapper(function, number);
}

void replace(const Object& object, const Object::Slot& slot) {
  const LibraryFunction function = function_of(slot.function);
  void* value = *slot.place;
  if (function == LibraryFunction::end_ || value == nullptr) return;
  const Library* library = library_at(value);
  const bool is_late = library == nullptr && slot.may_be_late && object.holds(value);
  if (is_late || (library != nullptr && library->which == library_of(function)))
    if (void* wrapper = wrapper_for(function, {value, is_late ? slot.place : nullptr, library}))
      object.set(slot.place, wrapper);
}

bool has_slots(const Object& object) {
  bool found = false;
  object.for_each_slot(kBeginnings, [&](const Object::Slot&) { found = true; });
  return found;
}

/// The slots of one object, while it can neither go away nor be half loaded.
void replace_slots(const char* name) {
  void* handle = kept_open(name);
  if (handle == nullptr) return;
  for_each_object([&](const dl_phdr_info& info) {
    const Object object(info);
    if (std::strcmp(object.name(), name) != 0 || done.has(object.base())) return true;
    object.for_each_slot(kBeginnings, [&](const Object::Slot& slot) { replace(object, slot); });
    done.add(object.base());
    return false;
  });
  ::dlclose(handle);
}

void replace_all_slots() {
  constexpr int kMostRounds = 64;
  for (int round = 0; round < kMostRounds; ++round) {
    candidates.count = 0;
    for_each_object([](const dl_phdr_info& info) {
      if (done.has(info.dlpi_addr)) return true;
      if (const Object object(info); has_slots(object))
        candidates.add(object.name());
      else
        done.add(object.base());
      return true;
    });
    for (std::uint32_t i = 0; i < candidates.count; ++i) replace_slots(candidates.all[i].name);
    if (candidates.count < kMostCandidates) return;
  }
}

std::atomic<void*> next_dlsym{nullptr};

void* no_symbol(void*, const char*) { return nullptr; }

}  // namespace

Target targets[record::kLibraryFunctions][kTargets];

const Library* copy_of(const Target& target, IoLibrary which) {
  if (target.late_slot == nullptr) return target.library;
  const Library* only = nullptr;
  const std::uint32_t count = library_count.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (libraries[i].which != which) continue;
    if (only != nullptr) return nullptr;
    only = &libraries[i];
  }
  return only;
}

void settle(const Target& target, LibraryFunction function) {
  void* value = std::atomic_ref(*target.late_slot).load(std::memory_order_acquire);
  const Library* library = library_at(value);
  if (library == nullptr || library->which != library_of(function)) return;
  if (void* wrapper = wrapper_for(function, {value, nullptr, library}))
    std::atomic_ref(*target.late_slot).store(wrapper, std::memory_order_release);
}

void look_at_objects() {
  if (is_off()) return;
  const Loads now = loads();
  if (now == looked_at || is_looking.exchange(true, std::memory_order_acquire)) return;
  unseen([&] {
    if (now.removed != looked_at.removed) {  // another object may be where one was
      known.clear();
      done.clear();
    }
    find_libraries();
    if (library_count.load(std::memory_order_relaxed) != 0) replace_all_slots();
    looked_at = now;
  });
  is_looking.store(false, std::memory_order_release);
}

void stop_looking() {
  is_looking.store(false, std::memory_order_relaxed);
  is_adding.store(false, std::memory_order_relaxed);
}

/// Programs look functions up after they have loaded a library. Returns the next dlsym.
extern "C" __attribute__((visibility("hidden"))) void* stepscope_io_before_dlsym() {
  void* next = next_dlsym.load(std::memory_order_relaxed);
  if (next == nullptr) {
#if defined(__x86_64__)
    next = ::dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
#else
    next = ::dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
#endif
    if (next == nullptr) next = reinterpret_cast<void*>(&no_symbol);
    next_dlsym.store(next, std::memory_order_relaxed);
  }
  look_at_objects();
  return next;
}

// Leaves to the next dlsym as if that had been called: it asks who its caller is.
#if defined(__x86_64__)
asm(R"(
  .pushsection .text
  .globl dlsym
  .type dlsym, @function
dlsym:
  endbr64
  pushq %rdi
  pushq %rsi
  subq $8, %rsp
  call stepscope_io_before_dlsym
  addq $8, %rsp
  popq %rsi
  popq %rdi
  jmp *%rax
  .size dlsym, . - dlsym
  .popsection
)");
#elif defined(__aarch64__)
asm(R"(
  .pushsection .text
  .globl dlsym
  .type dlsym, %function
dlsym:
  stp x0, x1, [sp, #-32]!
  str x30, [sp, #16]
  bl stepscope_io_before_dlsym
  mov x16, x0
  ldr x30, [sp, #16]
  ldp x0, x1, [sp], #32
  br x16
  .size dlsym, . - dlsym
  .popsection
)");
#endif

}  // namespace stepscope::collect::posix
