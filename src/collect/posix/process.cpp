#include "collect/posix/process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "collect/bus_errors.h"
#include "collect/posix/files.h"
#include "collect/posix/paths.h"
#include "collect/posix/wrap.h"

namespace stepscope::collect {

/// Signals are the program's own. Disk space is allocated before a segment is used, so that a full disk
/// raises none.
void survive_bus_errors(const std::atomic<Recorder*>&) {}

namespace posix {
namespace {

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

constexpr std::uint32_t kMegabytes = 256, kMostMegabytes = 65536;

std::atomic<std::uint32_t> before_main{kOff};
char folder[PATH_MAX];
std::uint32_t megabytes = kMegabytes;
bool was_forked = false;  // by fork(): its handlers ran
pid_t recorded = 0;       // the process whose recording is open

/// Text that is built without the heap.
template <std::size_t kBytes>
struct Line {
  char text[kBytes];
  std::size_t length = 0;

  void add(std::string_view more) {
    const std::size_t fits = more.size() < kBytes - 1 - length ? more.size() : kBytes - 1 - length;
    std::memcpy(text + length, more.data(), fits);
    text[length += fits] = '\0';
  }
  void add(std::uint64_t number) {
    char digits[24];
    add({digits,
         static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, number).ptr - digits)});
  }
};

/// Says in a file beside the recordings why nothing is recorded; the program's own output is not touched.
void give_up(std::string_view why) {
  life->store(kOff, std::memory_order_relaxed);
  Line<PATH_MAX> name;
  name.add(folder);
  name.add("/not-recorded-");
  name.add(static_cast<std::uint64_t>(::getpid()));
  name.add(".txt");
  const int file = ::open(name.text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  (void)!::write(file, why.data(), why.size());
  ::close(file);
}

/// `command="python train.py"`
void tell_command() {
  char words[4096];
  const int file = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t read = file < 0 ? 0 : ::read(file, words, sizeof words);
  if (file >= 0) ::close(file);
  Line<3 * sizeof words> line;
  line.add("command=\"");
  for (ssize_t at = 0; at + 1 < read; ++at) {
    const char byte = words[at];
    if (byte == '\0')
      line.add(" ");
    else if (byte == '"' || byte == '\\')
      line.add(byte == '"' ? "\\\"" : "\\\\");
    else
      line.add(static_cast<unsigned char>(byte) < 0x20 || static_cast<unsigned char>(byte) > 0x7E
                   ? "?"
                   : std::string_view(&byte, 1));
  }
  line.add("\"");
  stepscope_metadata(line.text, static_cast<std::uint32_t>(line.length));
}

/// False: nothing can be recorded, and is_off() from now on; or another thread begins just now.
bool begin() {
  std::atomic<std::uint32_t>& beginning = life[1];
  if (life->load(std::memory_order_acquire) == kOff || beginning.exchange(1, std::memory_order_acq_rel) != 0)
    return life->load(std::memory_order_acquire) == kOn;
  const pid_t pid = ::getpid();
  if (recorded != 0 && recorded != pid && !was_forked) {
    give_up("The process was forked without fork(), e.g. by clone().\n");
    return false;
  }
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  Line<PATH_MAX> name;
  name.add(folder);
  name.add("/io-");
  name.add(static_cast<std::uint64_t>(pid));
  name.add("-");
  name.add(static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec));
  name.add(".stepscope");
  if (const int error = stepscope_open(name.text, megabytes, record::kIo); error != 0) {
    Line<128> why;
    why.add("The recording cannot be created: error ");
    why.add(static_cast<std::uint64_t>(error));
    why.add(".\n");
    give_up({why.text, why.length});
    return false;
  }
  stepscope_worker_of(static_cast<std::uint32_t>(::getppid()), 0);
  stepscope_start();
  recorded = pid;
  was_forked = false;
  session.fetch_add(1, std::memory_order_relaxed);
  life->store(kOn, std::memory_order_release);
  tell_command();
  return true;
}

void before_fork() { forks.fetch_add(1, std::memory_order_relaxed); }
void in_child() { was_forked = true; }

/// A page that a fork clears.
std::atomic<std::uint32_t>* wiped_page() {
  constexpr std::size_t kPage = 4096;
  void* page = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED || ::madvise(page, kPage, MADV_WIPEONFORK) != 0) return nullptr;
  return static_cast<std::atomic<std::uint32_t>*>(page);
}

bool is_disabled() {
  const char* text = std::getenv("STEPSCOPE_DISABLE");
  for (std::string_view rest = text == nullptr ? "" : text; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(','));
    if (word == "io") return true;
    rest.remove_prefix(word.size() + (word.size() < rest.size() ? 1 : 0));
  }
  return false;
}

/// STEPSCOPE_IO is the folder of the recordings; STEPSCOPE_IO_MEGABYTES, _INCLUDE and _EXCLUDE are optional.
__attribute__((constructor(101))) void begin_process() {
  const Inside inside;
  const char* where = std::getenv("STEPSCOPE_IO");
  if (where == nullptr || where[0] != '/' || std::strlen(where) >= sizeof folder - 64 || is_disabled())
    return;
  std::strcpy(folder, where);
  std::atomic<std::uint32_t>* page = wiped_page();
  if (page == nullptr)
    return give_up("The kernel cannot clear memory in forked children (Linux 4.14 can).\n");
  if (!make_tables()) return give_up("There is no memory for the table of files.\n");
  if (::dlsym(RTLD_DEFAULT, "read") == ::dlsym(RTLD_NEXT, "read"))
    return give_up("The functions of libc are not replaced: another library comes first.\n");
  if (const char* size = std::getenv("STEPSCOPE_IO_MEGABYTES")) {
    std::uint32_t asked = 0;
    std::from_chars(size, size + std::strlen(size), asked);
    if (asked > 0 && asked <= kMostMegabytes) megabytes = asked;
  }
  set_paths(std::getenv("STEPSCOPE_IO_INCLUDE"), std::getenv("STEPSCOPE_IO_EXCLUDE"));
  exclude(folder);
  ::pthread_atfork(before_fork, nullptr, in_child);
  life = page;
}

__attribute__((destructor(101))) void end_process() { finish(); }

}  // namespace

std::atomic<std::uint32_t>* life = &before_main;
constinit thread_local Mine mine{false};
std::atomic<std::uint32_t> session{0};
std::atomic<std::uint32_t> forks{0};
const record::Clock kClock = best_clock();

Thread* place() {
  if (life->load(std::memory_order_acquire) != kOn && !begin()) return nullptr;
  Recorder* recorder = stepscope_recorder.load(std::memory_order_acquire);
  Thread* thread = recorder == nullptr ? nullptr : thread_of(*recorder);
  return thread != nullptr && has_room(*thread) ? thread : nullptr;
}

void finish() {
  if (mine.inside || life->load(std::memory_order_acquire) != kOn || recorded != ::getpid()) return;
  const Inside inside;
  life->store(kOff, std::memory_order_release);
  stepscope_stop();
  stepscope_close();
}

void* find_next(const char* name) {
  const bool was_inside = mine.inside;
  mine.inside = true;
  void* found = ::dlsym(RTLD_NEXT, name);
  mine.inside = was_inside;
  if (found == nullptr) ::abort();
  return found;
}

}  // namespace posix
}  // namespace stepscope::collect
