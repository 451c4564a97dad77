#include "cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "cli/terminal.h"

namespace stepscope::cli {
namespace {

std::string reason_of(int error) { return std::error_code(error, std::generic_category()).message(); }

}  // namespace

Result<Output> Output::open(const std::string& path) {
  if (path.empty() || path == "-") return Output(STDOUT_FILENO, "");
  constexpr mode_t kMode = 0666;
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
  if (descriptor < 0)
    return Error{"cannot be written: " + reason_of(errno) + "; choose another place with -o", path};
  return Output(descriptor, path);
}

Output::Output(Output&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      error_(other.error_),
      closed_early_(other.closed_early_) {}

Output::~Output() {
  if (!path_.empty() && descriptor_ >= 0) ::close(descriptor_);
}

void Output::write(std::string_view bytes) {
  while (!bytes.empty() && error_ == 0 && !closed_early_) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(written));
    else if (errno == EPIPE)
      closed_early_ = true;
    else if (errno != EINTR)
      error_ = errno;
  }
}

bool Output::on_terminal() const { return is_terminal(descriptor_); }

std::optional<Error> Output::finish() {
  if (!path_.empty() && descriptor_ >= 0 && ::close(std::exchange(descriptor_, -1)) != 0 && error_ == 0)
    error_ = errno;
  if (error_ == 0) return std::nullopt;
  return Error{"could not be written to the end: " + reason_of(error_),
               path_.empty() ? "standard output" : path_};
}

}  // namespace stepscope::cli
