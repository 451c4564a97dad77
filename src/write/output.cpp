#include "write/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace stepscope::write {
namespace {

constexpr mode_t kMode = 0666;
constexpr const char* kOpenFiles = "/proc/self/fd/";

std::string reason_of(int error) { return std::error_code(error, std::generic_category()).message(); }

Error unwritable(const std::string& path) {
  return {"cannot be written: " + reason_of(errno) + "; choose another place", path};
}

/// Opens a new file that will later replace `place.path`. It has no name if the file system allows that, so a
/// killed process leaves nothing behind; else it is named `place.part`. -1: the folder takes no new file.
int open_part(const Place& place, bool& named) {
  const std::string folder = std::filesystem::path(place.path).parent_path().string();
  int descriptor = -1;
  if (::access(kOpenFiles, X_OK) == 0)
    descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, kMode);
  named = descriptor < 0;
  if (named)
    descriptor = ::open(place.part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kMode);
  struct stat there{};
  if (descriptor >= 0 && ::stat(place.path.c_str(), &there) == 0)
    (void)::fchmod(descriptor, there.st_mode & 07777);
  return descriptor;
}

bool give_name(int descriptor, const std::string& part) {
  const std::string open_file = kOpenFiles + std::to_string(descriptor);
  (void)::unlink(part.c_str());
  return ::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, part.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

}  // namespace

Result<Place> place_of(const std::string& path) {
  std::error_code no_link;
  const auto followed = std::filesystem::canonical(path, no_link);
  const std::string leads_to = no_link ? path : followed.string();
  struct stat there{};
  const bool exists = ::lstat(leads_to.c_str(), &there) == 0;
  if (exists && !S_ISREG(there.st_mode))
    return Error{"is not a regular file and is left as it is; choose another place", path};
  if (exists && ::access(leads_to.c_str(), W_OK) != 0) return unwritable(path);
  return Place{leads_to, leads_to + ".part-" + std::to_string(::getpid())};
}

Result<Output> Output::open(const std::string& path) {
  if (path.empty() || path == "-") return Output(STDOUT_FILENO, "");
  if (const auto place = place_of(path)) {
    Output output(-1, place->path);
    output.descriptor_ = open_part(*place, output.named_);
    output.part_ = place->part;
    if (output.descriptor_ >= 0) return output;
  }
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
  return descriptor < 0 ? Result<Output>(unwritable(path)) : Output(descriptor, path);
}

Output::Output(Output&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      part_(std::exchange(other.part_, "")),
      named_(other.named_),
      error_(other.error_),
      closed_early_(other.closed_early_) {}

Output::~Output() {
  if (!path_.empty() && descriptor_ >= 0) ::close(descriptor_);
  if (!part_.empty() && named_) ::unlink(part_.c_str());
}

bool Output::write(std::string_view bytes) {
  while (!bytes.empty() && error_ == 0 && !closed_early_) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(written));
    else if (errno == EPIPE)
      closed_early_ = true;
    else if (errno != EINTR)
      error_ = errno;
  }
  return !closed_early_;
}

std::optional<Error> Output::finish() {
  if (!part_.empty() && !named_ && error_ == 0) {
    named_ = give_name(descriptor_, part_);
    if (!named_) error_ = errno;
  }
  if (!path_.empty() && descriptor_ >= 0 && ::close(std::exchange(descriptor_, -1)) != 0 && error_ == 0)
    error_ = errno;
  if (!part_.empty() && error_ == 0) {
    if (std::rename(part_.c_str(), path_.c_str()) == 0)
      part_.clear();
    else
      error_ = errno;
  }
  if (error_ == 0) return std::nullopt;
  return Error{"could not be written completely: " + reason_of(error_),
               path_.empty() ? "standard output" : path_};
}

}  // namespace stepscope::write
