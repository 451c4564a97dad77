#include "base/parallel.h"

#include <algorithm>
#include <atomic>
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

}  // namespace stepscope
