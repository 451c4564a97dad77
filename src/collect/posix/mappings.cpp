// msync: the file is found in the kernel's list of mappings.
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <string_view>

#include "collect/posix/call.h"
#include "collect/posix/wrap.h"

namespace stepscope::collect::posix {
namespace {

std::uint64_t hex(std::string_view& rest) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), number, 16);
  rest.remove_prefix(static_cast<std::size_t>(parsed.ptr - rest.data()));
  if (!rest.empty()) rest.remove_prefix(1);
  return number;
}

/// A line is "BEGIN-END rwxp OFFSET DEVICE INODE PATH". False: the address is not in it.
bool parse(std::string_view line, std::uint64_t address, std::int64_t& offset, std::string_view& path) {
  const std::uint64_t begin = hex(line), end = hex(line);
  if (address < begin || address >= end || line.size() < 5) return false;
  line.remove_prefix(5);
  offset = static_cast<std::int64_t>(hex(line) + (address - begin));
  const std::size_t at = line.find('/');
  path = at == std::string_view::npos ? "" : line.substr(at);
  return true;
}

/// The file that is mapped at the address, and where in it.
Named mapped_at(std::uint64_t address, std::int64_t& offset) {
  const int kept = errno;
  const Inside inside;
  Named found;
  const int list = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  char* text = scratch();
  std::size_t held = 0;
  while (list >= 0 && text != nullptr) {
    const ssize_t more = ::read(list, text + held, PATH_MAX - 1 - held);
    if (more <= 0) break;
    held += static_cast<std::size_t>(more);
    std::size_t at = 0;
    bool is_found = false;
    for (std::size_t end = 0;
         (end = std::string_view(text, held).find('\n', at)) != std::string_view::npos;) {
      std::string_view path;
      is_found = parse({text + at, end - at}, address, offset, path);
      if (is_found && !path.empty()) {
        text[end] = '\0';
        found = named(AT_FDCWD, path.data());
      }
      if (is_found) break;
      at = end + 1;
    }
    if (is_found || (at == 0 && held == PATH_MAX - 1)) break;
    std::memmove(text, text + at, held -= at);
  }
  if (list >= 0) ::close(list);
  errno = kept;
  return found;
}

}  // namespace

WRAP(int, msync, void* at, size_t bytes, int flags) {
  const auto next = [&] { return NEXT(msync)(at, bytes, flags); };
  if (is_off()) return next();
  Call call{.function = IoFunction::msync, .size = bytes};
  const Named file = mapped_at(reinterpret_cast<std::uintptr_t>(at), call.offset);
  if (file.number == 0) return next();
  const int result = measured(call, next);
  tell(call, file);
  return result;
}

}  // namespace stepscope::collect::posix
