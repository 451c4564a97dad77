#include "cli/browser.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/present.h"

namespace stepscope::cli {
namespace {

/// Starts xdg-open without waiting for it. False if there is no such program.
bool start_browser(const std::string& path) {
  int failed[2];
  if (::pipe2(failed, O_CLOEXEC) != 0) return false;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::fork() != 0) ::_exit(0);  // the browser is nobody's child, so nobody waits for it
    ::setsid();
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int standard : {0, 1, 2}) ::dup2(nothing, standard);
    ::execlp("xdg-open", "xdg-open", path.c_str(), static_cast<char*>(nullptr));
    const char byte = 1;
    const ssize_t ignored = ::write(failed[1], &byte, 1);
    ::_exit(ignored == 1 ? 127 : 126);
  }
  ::close(failed[1]);
  char byte = 0;
  const bool started = child > 0 && ::read(failed[0], &byte, 1) == 0;
  ::close(failed[0]);
  if (child > 0) ::waitpid(child, nullptr, 0);
  return started;
}

}  // namespace

Redirection::Redirection(const std::string& address) {
  std::error_code error;
  const char* own = std::getenv("XDG_RUNTIME_DIR");
  const std::filesystem::path folder =
      own != nullptr && *own != '\0' ? own : std::filesystem::temp_directory_path(error);
  std::string path = (folder / "stepscope-XXXXXX.html").string();
  const int file = ::mkostemps(path.data(), 5, O_CLOEXEC);  // readable by this user alone
  if (file < 0) {
    say(fmt::format("--open: {}: {}", path, std::strerror(errno)));
    return;
  }
  path_ = path;
  const std::string text = fmt::format(
      "<!doctype html>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"refresh\" content=\"0; url={}\">\n",
      address);
  const bool is_written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  if (!is_written || !start_browser(path_))
    say("--open: xdg-open cannot be started; open the address yourself");
}

Redirection::~Redirection() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace stepscope::cli
