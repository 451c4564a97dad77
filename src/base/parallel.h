// Threads, in the one form that the engine needs: one function, called for every index.
#pragma once

#include <cstddef>
#include <functional>

namespace stepscope {

/// The machine's hardware threads (at least 1), or `wanted` when that is not 0.
unsigned thread_count(unsigned wanted);

/// Calls work(i) for i in [0, count) on up to `threads` threads; returns when all are done. Indices are
/// handed out in increasing order. With one thread, it runs in the caller's thread. An exception of `work`,
/// such as std::bad_alloc, ends the work and is rethrown to the caller.
void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

/// Calls make(i) as parallel_for() does, and take(i) after it: in the order of i and one at a time, on any of
/// the threads. At most `threads` + 1 are made and not taken, so that they need little memory.
void parallel_in_order(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& make,
                       const std::function<void(std::size_t)>& take);

}  // namespace stepscope
