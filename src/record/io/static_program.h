// Whether anything can be preloaded into a program.
#pragma once

#include <elf.h>
#include <unistd.h>

#include <cstring>

namespace stepscope::record {

/// Of an open file: a program of this machine's word size that asks for no dynamic linker. False for anything
/// else.
inline bool is_static_program(int file) {
  constexpr int kMostParts = 256;
  Elf64_Ehdr head{};
  if (::pread(file, &head, sizeof head, 0) != sizeof head ||
      std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > kMostParts)
    return false;
  for (int i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part{};
    const auto at = static_cast<off_t>(head.e_phoff + static_cast<std::size_t>(i) * sizeof part);
    if (::pread(file, &part, sizeof part, at) != sizeof part || part.p_type == PT_INTERP) return false;
  }
  return true;
}

}  // namespace stepscope::record
