// Functions that replace the process by another program.
#include "collect/posix/starting.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include "collect/posix/line.h"
#include "collect/posix/process.h"
#include "collect/posix/wrap.h"
#include "collect/undisturbed.h"
#include "record/io/static_program.h"

namespace stepscope::collect::posix {
namespace {

/// Why nothing can be preloaded into an open file; null: it can, or it is no program.
const char* unreachable(int file) {
  struct stat what{};
  if (::fstat(file, &what) != 0 || !S_ISREG(what.st_mode) || (what.st_mode & 0111) == 0) return nullptr;
  if (((what.st_mode & S_ISUID) != 0 && what.st_uid != ::geteuid()) ||
      ((what.st_mode & S_ISGID) != 0 && what.st_gid != ::getegid()))
    return ", which runs with its owner's rights (setuid)\n";
  return record::is_static_program(file) ? ", which is linked statically\n" : nullptr;
}

std::uint64_t hash_of(const char* text) {
  constexpr std::uint64_t kBasis = 0xCBF29CE484222325, kPrime = 0x100000001B3;  // FNV-1a
  std::uint64_t hash = kBasis;
  for (; *text != '\0'; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * kPrime;
  return hash;
}

/// One file for each program, however often it is started.
void note(const char* program, const char* why) {
  Line<PATH_MAX> name;
  name.add(recordings_folder);
  name.add("/not-seen-");
  name.add(hash_of(program));
  name.add(".txt");
  const int file = open_file(name.text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return;
  const std::size_t length = std::strlen(program);
  write_file(file, program, length, 0);
  write_file(file, why, std::strlen(why), static_cast<off_t>(length));
  close_file(file);
}

/// Of the system itself, which work on no data: Python asks ldconfig where libraries are.
bool is_of_system(std::string_view program) {
  return program.starts_with("/sbin/") || program.starts_with("/usr/sbin/");
}

/// False: there is no such file, or it may not be read. The kernel looks at the address first.
bool look_at(const char* program) {
  const int file = open_file(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  const char* why = unreachable(file);
  close_file(file);
  if (why != nullptr && !is_of_system(program)) note(program, why);
  return true;
}

void look_in_path(const char* program) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/bin:/usr/bin" : path;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(':'));
    Line<PATH_MAX> file;
    file.add(part.empty() ? "." : part);
    file.add("/");
    file.add(program);
    if (look_at(file.text)) return;
    rest.remove_prefix(part.size() < rest.size() ? part.size() + 1 : rest.size());
  }
}

/// The words of a variadic function, from `first` on, with the null at their end.
template <class Next>
int with_words(const char* first, std::va_list& more, Next next) {
  std::va_list counted;
  va_copy(counted, more);
  std::size_t count = 1;
  for (const char* word = first; word != nullptr; word = va_arg(counted, const char*)) ++count;
  va_end(counted);
  auto** words =
      static_cast<char**>(__builtin_alloca(count * sizeof(char*)));  // as libc does: no heap after vfork
  std::size_t at = 0;
  for (const char* word = first; word != nullptr; word = va_arg(more, const char*))
    words[at++] = const_cast<char*>(word);
  words[at] = nullptr;
  return next(words);
}

}  // namespace

void about_to_start(const char* program, bool searched) {
  // Where recording has ended for good, a filter of system calls may stand.
  if (recordings_folder[0] == '\0' || program == nullptr || life_now() == kOff) return;
  const int kept = errno;
  const Inside inside;
  if (searched && std::strchr(program, '/') == nullptr)
    look_in_path(program);
  else
    look_at(program);
  errno = kept;
}

#define PARAMS(...) __VA_ARGS__
#define EXEC(name, searched, params, args) \
  WRAP(int, name, params) { \
    static std::atomic<decltype(&wrap_##name)> known{nullptr}; \
    auto* next = next_once(known, #name); \
    if (next == nullptr) return no_such_function<int>(); \
    about_to_start(program, searched); \
    return next args; \
  }
EXEC(execve, false, PARAMS(const char* program, char* const* words, char* const* environment),
     (program, words, environment))
EXEC(execv, false, PARAMS(const char* program, char* const* words), (program, words))
EXEC(execvp, true, PARAMS(const char* program, char* const* words), (program, words))
EXEC(execvpe, true, PARAMS(const char* program, char* const* words, char* const* environment),
     (program, words, environment))

#define EXEC_WORDS(name, by, variables) \
  WRAP(int, name, const char* program, const char* first, ...) { \
    std::va_list more; \
    va_start(more, first); \
    const int result = with_words(first, more, [&](char** words) { return by(program, words variables); }); \
    va_end(more); \
    return result; \
  }
EXEC_WORDS(execl, wrap_execv, )
EXEC_WORDS(execlp, wrap_execvp, )
#define VARIABLES , va_arg(more, char* const*)
EXEC_WORDS(execle, wrap_execve, VARIABLES)

}  // namespace stepscope::collect::posix
