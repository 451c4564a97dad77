#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "cli/record.h"
#include "cli/temporary_folder.h"

extern char** environ;

namespace stepscope::cli {
namespace {

/// Python runs this before the program. It waits for an import of PyTorch, so that other programs pay
/// nothing.
constexpr char kSite[] = R"py("""Written by `stepscope record`; removed when the program has ended."""
import importlib.machinery
import importlib.util
import os
import sys


class WhenTorchIsImported:
    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        found = importlib.util.find_spec(name)
        if found is None or found.loader is None:
            return found
        load = found.loader.exec_module

        def exec_module(module):
            load(module)
            try:
                from stepscope.profiler import _outside
            except ImportError as error:
                print(f"stepscope: {sys.executable} cannot import stepscope ({error}), so nothing is recorded;"
                      " install the package for this Python", file=sys.stderr)
                return
            _outside.begin(module)

        found.loader.exec_module = exec_module
        return found


here = os.path.dirname(os.path.abspath(__file__))
if os.environ.get("STEPSCOPE_RECORD"):
    sys.meta_path.insert(0, WhenTorchIsImported())
sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != here]
behind = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
if behind is not None:  # the sitecustomize that this one hides
    module = importlib.util.module_from_spec(behind)
    behind.loader.exec_module(module)
)py";

/// A folder with a sitecustomize.py in it.
Result<TemporaryFolder> site_folder() {
  auto folder = TemporaryFolder::make("stepscope-site");
  if (!folder) return folder;
  const std::string name = folder->path() + "/sitecustomize.py";
  const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (file < 0 || ::write(file, kSite, sizeof kSite - 1) != sizeof kSite - 1)
    return Error{std::strerror(errno), name};
  ::close(file);
  return folder;
}

std::vector<std::string> environment_with(const std::string& site, const std::string& options,
                                          const std::vector<std::string>& more) {
  std::vector<std::string> all = more;
  for (std::string& text : all)
    if (text.starts_with("STEPSCOPE_IO_EXCLUDE=")) text += ":" + site;
  const auto is_replaced = [&](std::string_view text) {
    const std::string_view name = text.substr(0, text.find('=') + 1);
    return std::any_of(more.begin(), more.end(),
                       [&](const std::string& one) { return one.starts_with(name); });
  };
  std::string path = "PYTHONPATH=" + site;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (text.starts_with("PYTHONPATH=")) {
      if (text.size() > 11) path += ":" + std::string(text.substr(11));
    } else if (!text.starts_with("STEPSCOPE_RECORD=") && !is_replaced(text)) {
      all.emplace_back(text);
    }
  }
  all.push_back(std::move(path));
  all.push_back("STEPSCOPE_RECORD=" + options);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// Becomes the program. If it cannot start, writes the error number to `failure`.
[[noreturn]] void become(char* const* command, char* const* environment, int failure) {
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGQUIT, SIG_DFL);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  ::execvpe(command[0], command, environment);
  const int error = errno;
  [[maybe_unused]] const auto told = ::write(failure, &error, sizeof error);
  ::_exit(127);
}

volatile std::sig_atomic_t child = 0;
void pass_on(int signal) {
  if (child > 0) ::kill(static_cast<pid_t>(child), signal);
}

Ended wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace

std::string json_of(const std::map<std::string, std::string>& options) {
  std::string text = "{";
  for (const auto& [key, value] : options) {
    text += text.size() == 1 ? "" : ", ";
    append_json(text, key);
    text += ": ";
    append_json(text, value);
  }
  return text + "}";
}

Result<Ended> run_recorded(const std::vector<std::string>& command,
                           const std::map<std::string, std::string>& options,
                           const std::vector<std::string>& more) {
  auto site = site_folder();
  if (!site) return site.error();
  std::vector<std::string> words = command,
                           surroundings = environment_with(site->path(), json_of(options), more);
  const std::vector<char*> arguments = pointers(words), environment = pointers(surroundings);
  int failure[2];
  if (::pipe2(failure, O_CLOEXEC) != 0) return Error{std::strerror(errno), command[0]};
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGQUIT, SIG_IGN);
  const pid_t process = ::fork();
  if (process < 0) return Error{std::strerror(errno), command[0]};
  if (process == 0) become(arguments.data(), environment.data(), failure[1]);
  child = process;
  ::signal(SIGTERM, pass_on);
  ::signal(SIGHUP, pass_on);
  ::close(failure[1]);
  int why = 0;
  const bool failed = ::read(failure[0], &why, sizeof why) == sizeof why;
  ::close(failure[0]);
  const Ended ended = wait_for(process);
  child = 0;
  ::signal(SIGTERM, SIG_DFL);
  ::signal(SIGHUP, SIG_DFL);
  if (failed) return Error{std::string(std::strerror(why)) + ", so it was not started", command[0]};
  return ended;
}

}  // namespace stepscope::cli
