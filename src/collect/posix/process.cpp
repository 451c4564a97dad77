#include "collect/posix/process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "collect/bus_errors.h"
#include "collect/posix/files.h"
#include "collect/posix/libraries.h"
#include "collect/posix/line.h"
#include "collect/posix/paths.h"
#include "collect/posix/wrap.h"
#include "collect/undisturbed.h"

namespace stepscope::collect {

/// Signals are the program's own. Disk space is allocated before a segment is used, so that a full disk
/// raises none.
void survive_bus_errors(const std::atomic<Recorder*>&) {}

namespace posix {

char recordings_folder[PATH_MAX];

void find_next_vfork();
void find_next_forbidding();

namespace {

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

constexpr std::uint32_t kMegabytes = 256, kMostMegabytes = 65536;

constinit std::atomic<std::uint32_t> never{kOff};
std::uint32_t megabytes = kMegabytes;
bool was_forked = false;  // by fork(): its handlers ran
bool handles_fork = false;
pid_t recorded = 0;  // the process whose recording is open
pthread_key_t at_thread_end;
bool has_key = false;
std::atomic<void (*)(int)> next_exit{nullptr};

constexpr std::string_view kDiskWasFull = "The disk was full: record to another disk.\n";

/// Says in a file beside the recordings why nothing is recorded; the program's own output is not touched.
void give_up(std::string_view why) {
  life.load(std::memory_order_relaxed)->store(kOff, std::memory_order_relaxed);
  static Line<PATH_MAX> name;  // the stack may be small
  name.length = 0;
  name.add(recordings_folder);
  name.add("/not-recorded-");
  name.add(static_cast<std::uint64_t>(::getpid()));
  name.add(".txt");
  const int file = open_file(name.text, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  write_file(file, why.data(), why.size(), 0);
  close_file(file);
}

/// `command="python train.py"`
void tell_command() {
  static char words[4096];
  const int file = open_file("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t read = file < 0 ? 0 : read_file(file, words, sizeof words);
  if (file >= 0) close_file(file);
  static Line<3 * sizeof words> line;
  line.length = 0;
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

void tell_end(std::string_view why) {
  Line<256> line;
  line.add("stepscope.not_recorded.io=[\"");
  line.add(why);
  line.add("\"]");
  stepscope_metadata(line.text, static_cast<std::uint32_t>(line.length));
}

bool is_recording() { return life_now(std::memory_order_acquire) == kOn && recorded == ::getpid(); }

void close_recording() {
  life.load(std::memory_order_relaxed)->store(kOff, std::memory_order_release);
  stepscope_stop();
  stepscope_close();
}

// The order of fork's handlers: ours surround those of the recorder, which hold its locks.
void before_fork() {
  forks.fetch_add(1, std::memory_order_relaxed);
  if (mine.inside == 0) mine.inside = kElsewhere;
}
void after_fork() {
  if (mine.inside == kElsewhere) mine.inside = 0;
}
void in_child() {
  was_forked = true;
  session.fetch_add(1, std::memory_order_relaxed);  // the numbers of its recording will be others
  stop_looking();
  after_fork();
}

void open_recording(pid_t pid) {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  static Line<PATH_MAX> name;
  name.length = 0;
  name.add(recordings_folder);
  name.add("/io-");
  name.add(static_cast<std::uint64_t>(pid));
  name.add("-");
  name.add(static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec));
  name.add(".stepscope");
  if (const int error = stepscope_open(name.text, megabytes, record::kIo); error != 0) {
    if (error == ENOSPC || error == EDQUOT) return give_up(kDiskWasFull);
    Line<128> why;
    why.add("The recording cannot be created: error ");
    why.add(static_cast<std::uint64_t>(error));
    why.add(".\n");
    return give_up({why.text, why.length});
  }
  if (!handles_fork) ::pthread_atfork(before_fork, after_fork, in_child);
  handles_fork = true;
  stepscope_worker_of(static_cast<std::uint32_t>(::getppid()), 0);
  stepscope_start();
  recorded = pid;
  was_forked = false;
  session.fetch_add(1, std::memory_order_relaxed);
  tell_command();
  life.load(std::memory_order_relaxed)->store(kOn, std::memory_order_release);
}

/// Waits for another thread that begins, but not forever.
void wait_for_beginning() {
  const int kept = errno;
  constexpr timespec kShort{0, 50'000};
  for (int i = 0; i < 20'000 && life_now(std::memory_order_acquire) == kNotBegun; ++i)
    ::syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &kShort, nullptr);
  errno = kept;
}

/// False: nothing can be recorded.
bool begin() {
  const Undisturbed undisturbed;
  if (life_now(std::memory_order_acquire) == kNotBegun) {
    if (life.load(std::memory_order_relaxed)[1].exchange(1, std::memory_order_acq_rel) != 0) {
      wait_for_beginning();
    } else if (const pid_t pid = ::getpid(); recorded != 0 && recorded != pid && !was_forked) {
      give_up("The process was forked without fork(), e.g. by clone().\n");
    } else {
      open_recording(pid);
    }
  }
  return life_now(std::memory_order_acquire) == kOn;
}

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

/// Address space that a limited program can spare for us, in MiB.
std::uint32_t spare_megabytes() {
  std::uint64_t least = RLIM_INFINITY;
  for (const auto what : {RLIMIT_AS, RLIMIT_DATA})
    if (rlimit limit{}; ::getrlimit(what, &limit) == 0)
      least = std::min<std::uint64_t>(least, limit.rlim_cur);
  constexpr std::uint64_t kShare = 16;
  return least == RLIM_INFINITY
             ? kMostMegabytes
             : static_cast<std::uint32_t>(std::min<std::uint64_t>((least >> 20) / kShare, kMostMegabytes));
}

std::uint32_t asked_megabytes() {
  const char* size = std::getenv("STEPSCOPE_IO_MEGABYTES");
  std::uint32_t asked = 0;
  if (size != nullptr) std::from_chars(size, size + std::strlen(size), asked);
  return asked > 0 && asked <= kMostMegabytes ? asked : kMegabytes;
}

/// Why nothing can be recorded here; null if all is well.
const char* failed_self_test() {
  if (::dlsym(RTLD_DEFAULT, "read") == ::dlsym(RTLD_NEXT, "read"))
    return "The functions of libc are not replaced: another library comes first.\n";
  for (const IoFunction needed : {IoFunction::open, IoFunction::close, IoFunction::read, IoFunction::write,
                                  IoFunction::lseek, IoFunction::mmap, IoFunction::fopen, IoFunction::fclose})
    if (find_next(needed) == nullptr) return "This libc lacks a function that every libc has.\n";
  // One call through the replaced function must reach libc and keep errno.
  errno = EDOM;
  if (::lseek(-1, 0, SEEK_CUR) != -1 || errno != EBADF) return "A replaced function does not reach libc.\n";
  const std::uint64_t before = now();
  if (now() < before) return "The clock goes backwards.\n";
  if (spare_megabytes() == 0) return "The limit of the program's memory leaves no room for a recording.\n";
  return nullptr;
}

void free_scratch(void* bytes) {
  if (life_now() != kOff) ::munmap(bytes, kScratch);  // it might be forbidden
  mine.scratch = nullptr;
}

/// STEPSCOPE_IO is the folder of the recordings; STEPSCOPE_IO_MEGABYTES, _INCLUDE and _EXCLUDE are optional.
void begin_process() {
  find_next_forbidding();
  const char* where = std::getenv("STEPSCOPE_IO");
  if (where == nullptr || where[0] != '/' || std::strlen(where) >= sizeof recordings_folder - 64 ||
      is_disabled())
    return;
  const Inside inside;
  const int kept = errno;
  std::strcpy(recordings_folder, where);
  std::atomic<std::uint32_t>* page = wiped_page();
  const std::uint32_t spare = spare_megabytes();
  megabytes = std::min(asked_megabytes(), spare);
  find_all_next();
  find_next_vfork();
  next_exit = reinterpret_cast<void (*)(int)>(find_next("_exit"));
  has_key = ::pthread_key_create(&at_thread_end, free_scratch) == 0;
  if (page == nullptr) {
    give_up("The kernel cannot clear memory in forked children (Linux 4.14 can).\n");
  } else if (const char* why = failed_self_test()) {
    give_up(why);
  } else if (!make_tables(spare == kMostMegabytes)) {
    give_up("There is no memory for the table of files.\n");
  } else {
    set_rules(std::getenv("STEPSCOPE_IO_INCLUDE"), std::getenv("STEPSCOPE_IO_EXCLUDE"));
    exclude(recordings_folder);
    life.store(page, std::memory_order_release);
  }
  errno = kept;
}

__attribute__((destructor(101))) void end_process() { finish(); }

}  // namespace

constinit std::atomic<std::atomic<std::uint32_t>*> life{&never};
constinit thread_local Mine mine{};
std::atomic<std::uint32_t> session{0};
std::atomic<std::uint32_t> forks{0};
const record::Clock kClock = best_clock();
std::uint64_t slow_now() { return ticks(kClock); }
const bool kHasBegun =
    (begin_process(), look_at_objects(), true);  // after all else in this library: it is linked last

__attribute__((noinline)) bool is_still_inside() {
  if (mine.inside == kElsewhere) return true;
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa());
  constexpr std::uintptr_t kNear = 1U << 16;
  bool is_over = false;
  if (caller > mine.inside) {
    stack_t other{};  // a handler's stack may be anywhere
    const int kept = errno;
    is_over = ::sigaltstack(nullptr, &other) == 0 && (other.ss_flags & SS_ONSTACK) == 0;
    errno = kept;
  } else if (mine.inside - caller < kNear) {
    is_over = !reinterpret_cast<const Inside*>(mine.inside)->is_intact();
  }
  if (is_over) mine.inside = 0;
  return !is_over;
}

Thread* place() {
  if (life_now(std::memory_order_acquire) != kOn && !begin()) return nullptr;
  Recorder* recorder = stepscope_recorder.load(std::memory_order_acquire);
  Thread* thread = recorder == nullptr ? nullptr : thread_of(*recorder);
  return thread != nullptr && has_room(*thread) ? thread : nullptr;
}

char* scratch() {
  if (mine.scratch == nullptr) [[unlikely]] {
    void* at = ::mmap(nullptr, kScratch, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return nullptr;
    mine.scratch = static_cast<char*>(at);
    if (has_key) ::pthread_setspecific(at_thread_end, at);
  }
  return mine.scratch;
}

void finish() {
  if (is_inside() || !is_recording()) return;
  const Inside inside;
  const Undisturbed undisturbed;
  close_recording();
}

void end_for_good(std::string_view why) {
  if (is_off()) return;
  const int kept = errno;
  const Inside inside;
  const Undisturbed undisturbed;
  if (is_recording()) {
    tell_end(why);
    close_recording();
  } else {
    give_up(why);
  }
  life.store(&never, std::memory_order_release);
  errno = kept;
}

// The program ends without its destructors.
extern "C" __attribute__((visibility("default"))) void wrap__exit(int code) asm("_exit");
extern "C" __attribute__((visibility("default"))) void wrap__Exit(int code) asm("_Exit");
void wrap__exit(int code) {
  finish();
  if (auto* leave = next_exit.load(std::memory_order_relaxed)) leave(code);
  for (;;) ::syscall(SYS_exit_group, code);
}
void wrap__Exit(int code) { wrap__exit(code); }

}  // namespace posix
}  // namespace stepscope::collect
