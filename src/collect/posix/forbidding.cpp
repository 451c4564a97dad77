// Programs that forbid themselves system calls (seccomp) or the time stamp counter: a call of ours would then
// kill them, so recording ends before.
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collect/posix/process.h"
#include "collect/posix/wrap.h"

namespace stepscope::collect::posix {
namespace {

using Prctl = int (*)(int, unsigned long, unsigned long, unsigned long, unsigned long);
using Syscall = long (*)(long, long, long, long, long, long, long);
std::atomic<Prctl> next_prctl{nullptr};
std::atomic<Syscall> next_syscall{nullptr};

constexpr const char* kFilters =
    "The program forbade itself system calls (seccomp): its I/O from then on is not recorded.";
constexpr const char* kHidesClock =
    "The program forbade itself the time stamp counter (PR_SET_TSC): its I/O from then on is not recorded.";

/// For those that come before the next function is known: looking for it may need memory.
long kernel(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
  long result = number;
  register long fourth asm("r10") = d;
  register long fifth asm("r8") = e;
  register long sixth asm("r9") = f;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
#elif defined(__aarch64__)
  register long what asm("x8") = number;
  register long result asm("x0") = a;
  register long second asm("x1") = b;
  register long third asm("x2") = c;
  register long fourth asm("x3") = d;
  register long fifth asm("x4") = e;
  register long sixth asm("x5") = f;
  asm volatile("svc 0"
               : "+r"(result)
               : "r"(what), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
               : "memory");
#endif
  constexpr long kLastError = 4095;
  if (result >= 0 || result < -kLastError) return result;
  errno = static_cast<int>(-result);
  return -1;
}

/// A filter of null only asks the kernel what it knows.
bool filters(unsigned long mode, unsigned long filter) {
  return mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && filter != 0);
}

void before_prctl(int option, unsigned long value, unsigned long more) {
  if (option == PR_SET_SECCOMP && filters(value, more)) end_for_good(kFilters);
  if (option == PR_SET_TSC && value == PR_TSC_SIGSEGV) end_for_good(kHidesClock);
}

void before_seccomp(unsigned long operation, unsigned long flags, unsigned long filter) {
  const bool is_strict = operation == SECCOMP_SET_MODE_STRICT;
  if (!is_strict && operation != SECCOMP_SET_MODE_FILTER) return;
  if (is_off() || !filters(is_strict ? SECCOMP_MODE_STRICT : SECCOMP_MODE_FILTER, filter)) return;
  end_for_good(kFilters);
  if ((flags & SECCOMP_FILTER_FLAG_TSYNC) == 0) return;
  constexpr timespec kOurCallsEnd{0, 1'000'000};  // those of the other threads
  kernel(SYS_nanosleep, reinterpret_cast<long>(&kOurCallsEnd), 0, 0, 0, 0, 0);
}

[[gnu::noinline]] void before_syscall(long number, long a, long b, long c) {
  const auto first = static_cast<unsigned long>(a);
  if (number == SYS_prctl)
    before_prctl(static_cast<int>(a), static_cast<unsigned long>(b), static_cast<unsigned long>(c));
  else
    before_seccomp(first, static_cast<unsigned long>(b), static_cast<unsigned long>(c));
}

}  // namespace

void find_next_forbidding() {
  next_prctl.store(reinterpret_cast<Prctl>(find_next("prctl")), std::memory_order_relaxed);
  next_syscall.store(reinterpret_cast<Syscall>(find_next("syscall")), std::memory_order_relaxed);
}

// Both take as many arguments as the call needs; those that were not given are passed on as they are.
WRAP(int, prctl, int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  before_prctl(option, a, b);
  if (auto* next = next_prctl.load(std::memory_order_relaxed)) return next(option, a, b, c, d);
  return static_cast<int>(kernel(SYS_prctl, option, static_cast<long>(a), static_cast<long>(b),
                                 static_cast<long>(c), static_cast<long>(d), 0));
}
WRAP(long, syscall, long number, long a, long b, long c, long d, long e, long f) {
  if (number == SYS_prctl || number == SYS_seccomp) [[unlikely]]
    before_syscall(number, a, b, c);
  if (auto* next = next_syscall.load(std::memory_order_relaxed)) return next(number, a, b, c, d, e, f);
  return kernel(number, a, b, c, d, e, f);
}

}  // namespace stepscope::collect::posix
