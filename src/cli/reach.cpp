#include "cli/reach.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/present.h"

namespace stepscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kQuiet = 3;    // seconds until the user is told
constexpr int kLimit = 20;   // seconds until the process is left alone
constexpr int kQueued = 42;  // the exit code of a debugger that did its work
constexpr const char* kStart = "start it with `stepscope run -- PROGRAM`";

/// Runs in the program. The answer is one line, "socket PATH" or "error SENTENCE". If nobody waits for it,
/// the script removes its folder.
constexpr std::string_view kScript = R"py(
def stepscope_attach(folder, prefix):
    import os
    import shutil
    import sys

    def listen():
        torch = sys.modules.get("torch")
        if torch is None:
            return "error has not imported PyTorch yet; attach again when it has"
        if getattr(torch.__spec__, "_initializing", False):
            return "error is importing PyTorch; attach again when it has"
        library = "{}/lib/python{}.{}".format(prefix, *sys.version_info[:2])
        places = [place for place in (library + "/site-packages", library + "/dist-packages") if place not in sys.path]
        sys.path += places
        try:
            from stepscope.profiler import _outside
        except ImportError as error:
            return "error runs {}, which cannot import stepscope ({}); install the package for it".format(sys.executable, error)
        finally:
            for place in places:
                sys.path.remove(place)
        return "socket {}".format(_outside.begin_late(torch))

    try:
        answer = listen()
    except BaseException as error:
        answer = "error cannot be recorded: {}: {}".format(type(error).__name__, error)
    try:
        caller = os.open(folder + "/answer", os.O_WRONLY | os.O_NONBLOCK)
        os.write(caller, (" ".join(answer.splitlines()) + "\n").encode(errors="surrogateescape"))
        os.close(caller)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)


)py";

constexpr std::string_view kRemoteExec = R"py(
import sys
if sys.version_info < (3, 14):
    print("%d.%d" % sys.version_info[:2])
    sys.exit(3)
try:
    sys.remote_exec(int(sys.argv[1]), sys.argv[2])
except PermissionError as error:
    sys.exit(4)
except Exception as error:
    print(error)
    sys.exit(5)
)py";
enum Helped : int { kAsked = 0, kTooOld = 3, kForbidden = 4, kRefused = 5 };

/// As a Python expression, whatever bytes it has.
std::string python_text(const std::string& text) {
  std::string hex;
  for (const char byte : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return fmt::format("__import__('os').fsdecode(bytes.fromhex('{}'))", hex);
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Error about(const std::string& process, std::string message) {
  return {std::move(message), "process " + process};
}

/// A folder that only this user can open, with the script and the pipe for its answer.
class Letter {
 public:
  static Result<Letter> write() {
    std::error_code ignored;
    std::string folder = (fs::temp_directory_path(ignored) / "stepscope-attach-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return Error{std::strerror(errno), folder};
    Letter letter(folder);
    if (!letter.fill()) return Error{std::strerror(errno), folder};
    return letter;
  }
  Letter(Letter&& other) noexcept
      : folder_(std::exchange(other.folder_, "")), answer_(std::exchange(other.answer_, -1)) {}
  Letter& operator=(Letter&&) = delete;
  ~Letter() {
    if (answer_ >= 0) ::close(answer_);
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }

  std::string script() const { return folder_ + "/begin.py"; }
  /// Whether the process finds this folder under the same name; containers have files of their own.
  bool is_seen_by(const std::string& process) const {
    struct stat here{}, there{};
    return ::stat(folder_.c_str(), &here) == 0 &&
           ::stat(fmt::format("/proc/{}/root{}", process, folder_).c_str(), &there) == 0 &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
  }
  /// The answer, without its line end; "" if the process ended; nothing after kLimit seconds.
  std::optional<std::string> answer(const std::string& process) const {
    const auto began = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::steady_clock::now() - began; };
    std::string text;
    for (bool is_told = false; passed() < std::chrono::seconds(kLimit);) {
      pollfd ready = {answer_, POLLIN, 0};
      char byte = 0;
      if (::poll(&ready, 1, 200) > 0 && ::read(answer_, &byte, 1) == 1) {
        if (byte == '\n') return text;
        text += byte;
      } else if (::access(fmt::format("/proc/{}", process).c_str(), F_OK) != 0) {
        return "";
      } else if (!is_told && passed() > std::chrono::seconds(kQuiet)) {
        is_told = true;
        say(fmt::format("process {}: waiting until its main thread runs Python code", process));
      }
    }
    return std::nullopt;
  }
  /// Leaves the folder to the script, which removes it.
  void leave() {
    ::close(std::exchange(answer_, -1));
    folder_.clear();
  }

 private:
  explicit Letter(std::string folder) : folder_(std::move(folder)) {}
  bool fill() {
    std::error_code ignored;
    const fs::path prefix = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
    const std::string text = fmt::format("{}stepscope_attach({}, {})\n", kScript, python_text(folder_),
                                         python_text(prefix.string()));
    const int file = ::open(script().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return false;
    const bool is_written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(file);
    const std::string pipe = folder_ + "/answer";
    if (!is_written || ::mkfifo(pipe.c_str(), 0600) != 0) return false;
    // Open for writing too: a pipe that nobody writes to would always be ready.
    answer_ = ::open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return answer_ >= 0;
  }

  std::string folder_;
  int answer_ = -1;
};

struct Ran {
  int code = 127;
  std::string text;
};

/// Runs a program without input, away from the terminal: an interrupt there must not end a debugger halfway.
Ran ran(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int out[2];
  if (::pipe2(out, O_CLOEXEC) != 0) return {127, std::strerror(errno)};
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (const auto& [from, to] : {std::pair{nothing, 0}, {out[1], 1}, {out[1], 2}}) ::dup2(from, to);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(out[1]);
  Ran result;
  char bytes[4096];
  for (ssize_t count; child > 0 && (count = ::read(out[0], bytes, sizeof bytes)) > 0;)
    result.text.append(bytes, static_cast<std::size_t>(count));
  ::close(out[0]);
  int status = 0;
  if (child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status))
    result.code = WEXITSTATUS(status);
  result.text = trimmed(result.text);
  return result;
}

std::string executable_of(const std::string& process) {
  std::error_code ignored;
  return fs::read_symlink(fmt::format("/proc/{}/exe", process), ignored).string();
}

bool is_python(const std::string& executable) {
  return fs::path(executable).filename().string().starts_with("python");
}

/// The process, or the first that it started, directly or not, that runs Python; "" if there is none.
std::string python_in(const std::string& process) {
  if (is_python(executable_of(process))) return process;
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", process));
  for (std::string child; children >> child;)
    if (std::string found = python_in(child); !found.empty()) return found;
  return "";
}

Error forbidden(const std::string& process) {
  return about(
      process,
      std::string("cannot be reached: the system does not let this user trace it (ptrace). On the "
                  "machine itself, `sudo sysctl kernel.yama.ptrace_scope=0` permits it until the next "
                  "boot; start a container with --cap-add=SYS_PTRACE. Or ") +
          kStart);
}

/// Why this user may not make the process listen, if so.
std::optional<Error> obstacle(const std::string& process) {
  const std::string status = contents(fmt::format("/proc/{}/status", process));
  if (status.empty() || has(status, "\nState:\tZ")) return about(process, "has ended, or never was");
  const std::size_t at = status.find("\nUid:\t");
  const long uid = at == std::string::npos ? -1 : std::strtol(status.c_str() + at + 6, nullptr, 10);
  if (uid != static_cast<long>(::getuid()))
    return about(process, fmt::format("belongs to the user with id {}; run attach as that user", uid));
  const int memory = ::open(fmt::format("/proc/{}/mem", process).c_str(), O_RDONLY | O_CLOEXEC);
  if (memory < 0) return forbidden(process);
  ::close(memory);
  return std::nullopt;
}

/// What turned remote debugging off in the process, or "".
std::string turned_off_by(const std::string& process) {
  const std::string words = '\0' + contents(fmt::format("/proc/{}/cmdline", process));
  const std::string variables = '\0' + contents(fmt::format("/proc/{}/environ", process));
  if (has(words, "disable-remote-debug") || has(words, "disable_remote_debug"))
    return "-X disable-remote-debug";
  constexpr std::string_view variable("\0PYTHON_DISABLE_REMOTE_DEBUG=", 29);
  return has(variables, variable) ? "PYTHON_DISABLE_REMOTE_DEBUG" : "";
}

/// Has the process's own interpreter call sys.remote_exec; it must be of the same version. -I and -S: no
/// variable, no site package and no file of the working folder takes part.
std::optional<Error> ask(const std::string& process, const Letter& letter) {
  const Ran helper =
      ran({executable_of(process), "-I", "-S", "-c", std::string(kRemoteExec), process, letter.script()});
  switch (helper.code) {
    case kAsked:
      return std::nullopt;
    case kTooOld:
      return about(process,
                   fmt::format("runs Python {}, which no other program can enter (from 3.14 on it can): {}; "
                               "or use --inject, which stops it for a moment with a debugger",
                               helper.text, kStart));
    case kForbidden:
      return forbidden(process);
    case kRefused:
      if (const std::string what = turned_off_by(process); !what.empty())
        return about(process,
                     fmt::format("forbids remote debugging ({}): {} without that, or use --inject, which "
                                 "stops it for a moment with a debugger",
                                 what, kStart));
      return about(process, fmt::format("cannot be asked to listen: {}. Or {}", helper.text, kStart));
    default:
      return about(process, fmt::format("its Python, {}, does not start (was it replaced since?) {}; or {}",
                                        executable_of(process), helper.text, kStart));
  }
}

/// Has gdb queue a call in the process, which Python makes as soon as its main thread may run Python code.
/// The memory for its text comes from the system: malloc() may be held where the process was stopped.
std::optional<Error> inject(const std::string& process, const Letter& letter) {
  say(fmt::format(
      "process {}: --inject stops the program while gdb reads its symbols, often for seconds, and calls "
      "two functions in it. In rare cases that hangs or ends the program.",
      process));
  const std::string code = fmt::format("try: exec(open({}).read(), {{}})\\nexcept BaseException: pass\\n",
                                       python_text(letter.script()));
  const Ran gdb = ran(
      {"gdb",
       "-nx",
       "-q",
       "-batch",
       "-iex",
       "set auto-load off",
       "-iex",
       "set debuginfod enabled off",
       "-iex",
       "set auto-solib-add off",
       "-p",
       process,
       "-ex",
       "sharedlibrary libpython",
       "-ex",
       "sharedlibrary libc[.-]",
       "-ex",
       "set $text = ((char *(*)(void *, unsigned long, int, int, int, long)) mmap)(0, 65536, 3, 0x22, -1, 0)",
       "-ex",
       fmt::format("set {{char[{}]}} $text = \"{}\"", code.size() - 1, code),
       "-ex",
       "set $failed = ((int (*)(void *, void *)) Py_AddPendingCall)((void *) PyRun_SimpleString, $text)",
       "-ex",
       "detach",
       "-ex",
       fmt::format("quit {} + ($failed != 0)", kQueued)});
  if (gdb.code == kQueued) return std::nullopt;
  if (gdb.code == 127)
    return about(
        process,
        "--inject needs gdb, which is not installed: `apt-get install gdb` on Debian and Ubuntu, `dnf "
        "install gdb` on Fedora");
  return about(process, fmt::format("gdb could not make it listen. It said:\n{}\nOr {}", gdb.text, kStart));
}

}  // namespace

Result<Reached> reach(const std::string& named, bool injects) {
  if (auto why = obstacle(named)) return *why;
  const std::string process = python_in(named);
  if (process.empty())
    return about(named, fmt::format("runs no Python but {}; give the id of the Python process, or {}",
                                    executable_of(named), kStart));
  if (auto why = obstacle(process)) return *why;
  auto letter = Letter::write();
  if (!letter) return letter.error();
  if (!letter->is_seen_by(process))
    return about(process,
                 "has other files than this shell, as in a container; run attach inside that container");
  if (auto why = injects ? inject(process, *letter) : ask(process, *letter)) return *why;
  const auto answer = letter->answer(process);
  if (!answer) {
    letter->leave();
    return about(process,
                 fmt::format("its main thread has run no Python code for {} s: it waits in a C function. It "
                             "begins to listen when it gets out; attach again then",
                             kLimit));
  }
  if (answer->empty()) return about(process, "ended before it listened");
  const std::string text = answer->substr(answer->find(' ') + 1);
  if (!answer->starts_with("socket ")) return about(process, text);
  return Reached{process, text};
}

}  // namespace stepscope::cli
