#include "collect/undisturbed.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace stepscope::collect {
namespace {

std::atomic<bool> has_ended_stretch{false}, is_alive_after{false};

/// A cancellation that was sent before the thread forbade it: the C library's signal, to itself.
void* is_canceled_within(void*) {
  ::pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
  {
    const Undisturbed undisturbed;
    constexpr int kCancels = 32;
    ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), kCancels);
    ::pthread_cancel(::pthread_self());
    has_ended_stretch = true;
  }
  is_alive_after = true;
  return nullptr;
}

void* waits(void*) {
  for (;;) ::pause();
}

void* result_of(void* (*work)(void*), bool canceled) {
  pthread_t thread;
  EXPECT_EQ(::pthread_create(&thread, nullptr, work, nullptr), 0);
  if (canceled) ::pthread_cancel(thread);
  void* result = nullptr;
  EXPECT_EQ(::pthread_join(thread, &result), 0);
  return result;
}

TEST(Undisturbed, CancellationWaitsForItsEnd) {
  ASSERT_EQ(result_of(waits, true), PTHREAD_CANCELED);  // the first one makes libc handle its signal
  void* result = result_of(is_canceled_within, false);
  EXPECT_TRUE(has_ended_stretch);
  EXPECT_FALSE(is_alive_after);
  EXPECT_EQ(result, PTHREAD_CANCELED);
}

}  // namespace
}  // namespace stepscope::collect
