#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace stepscope {

unsigned thread_count(unsigned wanted) {
  return wanted != 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
}

void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work) {
  const std::size_t crew = std::min<std::size_t>(threads, count);
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr first_thrown;
  const auto take = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!first_thrown) first_thrown = std::current_exception();
    }
  };
  std::vector<std::jthread> others;
  try {
    for (std::size_t i = 1; i < crew; ++i) others.emplace_back(take);
  } catch (const std::system_error&) {
    // No more threads can be started: the existing threads do the work.
  }
  take();
  others.clear();
  if (first_thrown) std::rethrow_exception(first_thrown);
}

void parallel_in_order(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& make,
                       const std::function<void(std::size_t)>& take) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<bool> is_made(count);
  std::size_t taken = 0;
  bool has_thrown = false;
  const auto work = [&](std::size_t i) {
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return has_thrown || i < taken + threads + 1; });
      if (has_thrown) return;
    }
    make(i);
    const std::lock_guard lock(mutex);
    is_made[i] = true;
    for (; taken < count && is_made[taken] && !has_thrown; ++taken) take(taken);
    changed.notify_all();
  };
  parallel_for(count, threads, [&](std::size_t i) {
    try {
      work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      has_thrown = true;
      changed.notify_all();
      throw;
    }
  });
}

}  // namespace stepscope
