// What is at an address that the program gave, which may be wrong.
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <functional>

#include "collect/posix/paths.h"

namespace stepscope::collect::posix {

bool is_text(const char* path) {
  const int kept = errno;
  constexpr std::size_t kPiece = 512;  // pages are whole pieces
  char bytes[kPiece];
  bool is_found = false;
  for (std::size_t at = 0; at < PATH_MAX && !is_found;) {
    const char* from = path + at;
    const std::size_t size =
        std::min(kPiece - reinterpret_cast<std::uintptr_t>(from) % kPiece, std::size_t{PATH_MAX} - at);
    const iovec here{bytes, size}, there{const_cast<char*>(from), size};
    if (::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) != static_cast<ssize_t>(size)) break;
    is_found = std::memchr(bytes, '\0', size) != nullptr;
    at += size;
  }
  errno = kept;
  return is_found;
}

bool was_read_by_failed_call(const char* path) {
  switch (errno) {
    case ENOENT:
    case ENOTDIR:
    case EACCES:
    case EEXIST:
    case EISDIR:
    case ENOTEMPTY:
    case ELOOP:
      return true;
    case EFAULT:
      return false;
    default:
      return is_text(path);  // the call may have failed before it looked at the path
  }
}

bool overlaps(const char* path, const void* out, std::size_t room) {
  const auto from = reinterpret_cast<std::uintptr_t>(path), to = reinterpret_cast<std::uintptr_t>(out);
  if (out == nullptr || to + room <= from || to >= from + PATH_MAX) return false;
  return to <= from + std::strlen(path);
}

}  // namespace stepscope::collect::posix
