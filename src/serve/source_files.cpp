#include "serve/source_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/text.h"
#include "serve/request.h"

namespace stepscope::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFile = std::size_t{1} << 20;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  const int number_;
};

/// The kernel itself refuses names and links that lead out of `folder`. A pipe is not waited for.
int open_beneath(int folder, const std::string& name) {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how));
}

Refusal not_shown(const std::string& file, std::string_view why) {
  return {404, fmt::format("{}: {}", file, why)};
}

std::string contents(int descriptor, const std::string& file) {
  struct stat about{};
  if (::fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode))
    throw not_shown(file, "is no regular file");
  std::string text(kMaxFile + 1, '\0');
  std::size_t size = 0;
  for (ssize_t got;
       size < text.size() && (got = ::read(descriptor, text.data() + size, text.size() - size)) > 0;)
    size += static_cast<std::size_t>(got);
  if (size > kMaxFile) throw not_shown(file, "is larger than 1 MiB");
  text.resize(size);
  if (text.find('\0') != text.npos) throw not_shown(file, "is no text");
  return text;
}

/// The lines, each with its end; bytes that are not UTF-8 are replaced.
std::string cut_lines(std::string_view text, std::size_t first, std::size_t last) {
  for (std::size_t line = 1; line < first && !text.empty(); ++line)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  std::size_t end = 0;
  for (std::size_t line = first; line <= last && end < text.size(); ++line)
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  text = text.substr(0, end);
  std::string out;
  while (!text.empty()) append_utf8(out, take_code_point(text));
  return out;
}

}  // namespace

Result<SourceFiles> SourceFiles::below(const std::string& folder) {
  std::error_code error;
  const fs::path path = fs::canonical(folder, error);
  if (error) return Error{"--source-root cannot be opened: " + error.message(), folder};
  const int descriptor = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return Error{fmt::format("--source-root cannot be opened: {}", std::strerror(errno)), folder};
  return SourceFiles(path.string(), descriptor);
}

SourceFiles::SourceFiles(SourceFiles&& other) noexcept
    : folder_(std::move(other.folder_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

SourceFiles::~SourceFiles() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string SourceFiles::lines(const std::string& file, std::size_t first, std::size_t last) const {
  const fs::path path(file);
  const fs::path below = path.is_absolute() ? path.lexically_normal().lexically_relative(folder_) : path;
  const Descriptor opened(open_beneath(descriptor_, below.string()));
  if (opened.number() < 0)
    throw not_shown(file, errno == ENOSYS ? "this kernel cannot confine names to a folder (openat2)"
                                          : "there is no such file below --source-root");
  return cut_lines(contents(opened.number(), file), first, last);
}

}  // namespace stepscope::serve
