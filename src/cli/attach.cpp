// Asks running programs to record themselves.
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "cli/exit.h"
#include "cli/present.h"
#include "cli/record.h"

namespace stepscope::cli {
namespace {

/// A connection to one process. What it says comes as lines "WORD TEXT".
class Asked {
 public:
  static Result<Asked> connect(const std::string& process) {
    std::error_code ignored;
    const auto path = std::filesystem::temp_directory_path(ignored) /
                      fmt::format("stepscope-{}", ::getuid()) / fmt::format("control-{}.sock", process);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.native().size() >= sizeof address.sun_path) return Error{"is too long a path", path.string()};
    std::memcpy(address.sun_path, path.c_str(), path.native().size() + 1);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    Asked asked(process, socket);
    if (socket < 0 || ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return Error{
          fmt::format("does not wait to be recorded ({}); was it started by `stepscope run`, with the "
                      "same TMPDIR, and has it imported PyTorch?",
                      std::strerror(errno)),
          "process " + process};
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != ::getuid())
      return Error{"is another user's", "process " + process};
    return asked;
  }
  /// A connection to the process, or to one that it started: `stepscope run` waits for the program it runs.
  static Result<Asked> find(const std::string& process) {
    auto asked = connect(process);
    if (asked) return asked;
    std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", process));
    for (std::string child; children >> child;)
      if (auto found = find(child)) return found;
    return asked;
  }
  Asked(Asked&& other) noexcept
      : process_(std::move(other.process_)), socket_(std::exchange(other.socket_, -1)) {}
  Asked& operator=(Asked&&) = delete;
  ~Asked() {
    if (socket_ >= 0) ::close(socket_);
  }

  bool tell(const std::string& line) const {
    return ::send(socket_, line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size());
  }
  /// "" when the process has ended.
  std::string line() {
    std::string text;
    char byte = 0;
    while (text.size() < 65536 && ::recv(socket_, &byte, 1, 0) == 1 && byte != '\n') text += byte;
    return text;
  }
  const std::string& process() const { return process_; }

 private:
  Asked(std::string process, int socket) : process_(std::move(process)), socket_(socket) {}
  std::string process_;
  int socket_;
};

/// The path of the recording.
Result<std::string> outcome_of(Asked& asked) {
  for (std::string line = asked.line(); !line.empty(); line = asked.line()) {
    const std::size_t space = line.find(' ');
    const std::string word = line.substr(0, space), text = line.substr(std::min(space, line.size() - 1) + 1);
    if (word == "recording") return text;
    if (word == "error") return Error{text, "process " + asked.process()};
    if (word == "asked")
      say(fmt::format("process {} is at step {}; it goes on while it is recorded", asked.process(), text));
  }
  return Error{"ended before its recording did", "process " + asked.process()};
}

std::string misfit(const Call& call) {
  if (call.words.empty()) return "attach needs the id of a process: stepscope attach 4711 --steps 3";
  for (const std::string& word : call.words)
    if (!is_count(word)) return word + " is no id of a process";
  if (!call.params.has("steps") && !call.params.has("seconds"))
    return "say how much to record: --steps 3, --seconds 2, or both";
  if (call.params.has("steps") && call.params.integer("steps") < 1) return "--steps is 1 or more";
  return "";
}

}  // namespace

int run_attach(const Call& call) {
  if (const std::string why = misfit(call); !why.empty()) return misuse(call, why);
  std::vector<Asked> all;
  for (const std::string& process : call.words) {
    auto asked = Asked::find(process);
    if (!asked) return fail(asked.error());
    all.push_back(std::move(*asked));
  }
  const auto folder = folder_for(call);
  if (!folder) return fail(folder.error());
  const std::string request = json_of(recording_options(call, *folder)) + "\n";
  std::vector<std::string> recordings;
  for (const Asked& asked : all) asked.tell(request);
  int failed = kDone;
  for (Asked& asked : all) {
    auto recording = outcome_of(asked);
    if (recording)
      recordings.push_back(std::move(*recording));
    else
      failed = fail(recording.error());
  }
  if (recordings.empty()) return failed;
  const int reported = report_on(call, std::move(recordings));
  say(fmt::format("recorded in {}", folder->string()));
  return failed != kDone ? failed : reported;
}

}  // namespace stepscope::cli
