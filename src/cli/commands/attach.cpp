// Asks running programs to record themselves.
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/exit.h"
#include "cli/present.h"
#include "cli/reach.h"
#include "cli/record.h"
#include "cli/temporary_folder.h"

namespace stepscope::cli {
namespace {

namespace fs = std::filesystem;

/// The process's control sockets. Names end in a part for the machine, as machines may share the folder.
std::vector<fs::path> sockets_of(const std::string& process) {
  std::error_code error;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(scratch_folder(), error))
    if (entry.path().filename().string().starts_with(fmt::format("control-{}-", process)))
      found.push_back(entry.path());
  return found;
}

/// A connection to one process, which sends lines "WORD TEXT".
class Asked {
 public:
  /// A connection to the process, or to one that it started: `stepscope run` waits for the program it runs.
  /// Where none listens, makes the process listen.
  static Result<Asked> find(const std::string& process, bool injects) {
    if (auto asked = listening(process)) return std::move(*asked);
    const auto reached = reach(process, injects);
    if (!reached) return reached.error();
    return connect_to(reached->socket, reached->process);
  }
  Asked(Asked&& other) noexcept
      : process_(std::move(other.process_)), socket_(std::exchange(other.socket_, -1)) {}
  Asked& operator=(Asked&&) = delete;
  ~Asked() {
    if (socket_ >= 0) ::close(socket_);
  }

  int socket() const { return socket_; }
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
  static std::optional<Asked> listening(const std::string& process) {
    for (const fs::path& path : sockets_of(process))
      if (auto asked = connect_to(path, process)) return std::move(*asked);
    std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", process));
    for (std::string child; children >> child;)
      if (auto found = listening(child)) return found;
    return std::nullopt;
  }
  static Result<Asked> connect_to(const fs::path& path, const std::string& process) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.native().size() >= sizeof address.sun_path)
      return Error{std::strerror(ENAMETOOLONG), path.string()};
    std::memcpy(address.sun_path, path.c_str(), path.native().size() + 1);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    Asked asked(process, socket);
    if (socket < 0 || ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return Error{std::strerror(errno), path.string()};
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
      return Error{std::strerror(errno), path.string()};
    if (peer.uid != ::getuid()) return Error{"another user listens there", path.string()};
    return asked;
  }

  Asked(std::string process, int socket) : process_(std::move(process)), socket_(socket) {}
  std::string process_;
  int socket_;
};

/// While this exists, an interrupt makes the processes stop recording and report what they have so far. A
/// second one ends this program.
class Interruptible {
 public:
  explicit Interruptible(const std::vector<Asked>& all) {
    for (const Asked& asked : all) sockets.push_back(asked.socket());
    set(on_signal);
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible() {
    set(SIG_DFL);
    sockets.clear();
  }

 private:
  static void set(void (*action)(int)) {
    for (const int signal : {SIGINT, SIGTERM}) ::signal(signal, action);
  }
  static void on_signal(int) {
    const int kept = errno;
    set(SIG_DFL);
    for (const int socket : sockets) ::shutdown(socket, SHUT_WR);
    constexpr std::string_view said =
        "\nstepscope: stopping the recording; press Ctrl-C again to quit without waiting\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, said.data(), said.size());
    errno = kept;
  }
  static inline std::vector<int> sockets;
};

constexpr const char* kEnded = "ended before a step began";

std::string nothing_of(const Asked& asked, const std::string& why) {
  say(fmt::format("stepscope: process {} {}, so nothing was recorded", asked.process(), why));
  return "";
}

/// The recording that a killed process left, or "".
Result<std::string> left_by(const Asked& asked, const std::string& file) {
  std::error_code ignored;
  if (file.empty()) return Error{"ended before it answered", "process " + asked.process()};
  if (!fs::exists(file, ignored)) return nothing_of(asked, kEnded);
  say(fmt::format("process {} ended; its recording up to then follows", asked.process()));
  return file;
}

/// The path of the recording; "" if there is none, which the user has been told.
Result<std::string> outcome_of(Asked& asked) {
  std::string file;
  for (std::string line = asked.line(); !line.empty(); line = asked.line()) {
    const std::size_t space = line.find(' ');
    const std::string word = line.substr(0, space), text = line.substr(std::min(space, line.size() - 1) + 1);
    if (word == "recording") return text;
    if (word == "nothing") return nothing_of(asked, text);
    if (word == "error") return Error{text, "process " + asked.process()};
    if (word == "file") file = text;
    if (word == "asked")
      say(fmt::format("process {} is at step {}; it keeps running while recorded", asked.process(), text));
    if (word == "idle")
      say(
          fmt::format("process {} has made no step (no optimizer.step()) for {} s; press Ctrl-C to stop "
                      "waiting, or use --seconds 2 to record by time",
                      asked.process(), text));
  }
  return left_by(asked, file);
}

std::string misfit(const Call& call) {
  if (call.words.empty()) return "attach needs a process id: stepscope attach 4711 --steps 3";
  for (const std::string& word : call.words)
    if (!is_count(word)) return word + " is not a process id";
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
    auto asked = Asked::find(process, call.params.flag("inject"));
    if (!asked) return fail(asked.error());
    all.push_back(std::move(*asked));
  }
  const auto folder = folder_for(call);
  if (!folder) return fail(folder.error());
  const std::string request = json_of(recording_options(call, *folder)) + "\n";
  std::vector<std::string> recordings;
  int failed = kDone;
  for (const Asked& asked : all) asked.tell(request);
  {
    const Interruptible interruptible(all);
    for (Asked& asked : all) {
      auto recording = outcome_of(asked);
      if (!recording)
        failed = fail(recording.error());
      else if (recording->empty())
        failed = kFailed;
      else
        recordings.push_back(std::move(*recording));
    }
  }
  if (recordings.empty()) {
    std::error_code ignored;
    fs::remove(*folder, ignored);
    return failed;
  }
  const int reported = report_on(call, std::move(recordings));
  say_where(*folder);
  return failed != kDone ? failed : reported;
}

}  // namespace stepscope::cli
