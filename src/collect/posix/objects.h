// What is loaded into this process: executable and libraries, as ELF describes them.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stepscope::collect::posix {

/// Of a loaded object, which must stay loaded: to be used inside dl_iterate_phdr.
class Object {
 public:
  explicit Object(const dl_phdr_info& info);

  const char* name() const { return name_; }
  std::uintptr_t base() const { return base_; }
  std::uintptr_t begin() const { return begin_; }
  std::uintptr_t end() const { return end_; }
  bool holds(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return begin_ <= at && at < end_;
  }
  bool defines(std::string_view symbol) const;

  /// Where the dynamic linker puts the address of a function of another object.
  struct Slot {
    void** place;
    const char* function;
    bool may_be_late;  ///< it may hold the address of code that looks for the function at the first call
  };
  /// Calls `take(slot)` for all slots whose function begins with one of the texts.
  template <class Take>
  void for_each_slot(std::span<const std::string_view> beginnings, Take take) const {
    for (const Relocations& all : relocations_)
      for (std::size_t i = 0; i < all.count; ++i)
        if (const char* function = function_of(all.first[i], beginnings); function != nullptr)
          take(Slot{reinterpret_cast<void**>(base_ + all.first[i].r_offset), function, all.late});
  }
  /// Writes a slot, also where the dynamic linker has made it read-only. False: the system forbids it.
  bool set(void** place, void* value) const;

 private:
  struct Relocations {
    const Elf64_Rela* first = nullptr;
    std::size_t count = 0;
    bool late = false;
  };

  void read_dynamic(const Elf64_Dyn* entry);
  const char* function_of(const Elf64_Rela& relocation, std::span<const std::string_view> beginnings) const;

  const char* name_;
  std::uintptr_t base_, begin_ = UINTPTR_MAX, end_ = 0;
  std::uintptr_t fixed_begin_ = 0, fixed_end_ = 0;  ///< read-only after relocation
  const Elf64_Sym* symbols_ = nullptr;
  const char* strings_ = nullptr;
  const std::uint32_t* hashes_ = nullptr;  ///< DT_GNU_HASH
  Relocations relocations_[2];
};

}  // namespace stepscope::collect::posix
