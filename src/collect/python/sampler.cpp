// A thread that samples the stacks of all Python threads, 100 times a second or as often as 1 % of a core
// allows. It never takes the interpreter's lock, so nothing waits for it, and it may keep running while the
// program ends.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "collect/python/calls.h"
#include "collect/python/stack_reader.h"
#include "collect/recorder.h"

namespace stepscope::collect {
namespace {

using Microseconds = std::chrono::duration<double, std::micro>;

constexpr Microseconds kShortestPeriod{10'000}, kLongestPeriod{1'000'000};
constexpr double kMaxShare = 0.01;  // of a core
constexpr double kMaxGrowth = 1.5;  // of the period, from one sample to the next

/// CPU time of this thread.
Microseconds own_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Never freed: the program may end while samples are taken.
struct Sampler {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_asked_to_end = false;
  std::thread thread;
  ::pid_t process = 0;  // the process of the thread: a forked child has no such thread
  StackReader reader;
};
std::set<SampledLine>* sampled = nullptr;  // of all samplers that ended; guarded by the interpreter's lock
Sampler* sampler = nullptr;                // guarded by the interpreter's lock; null: no samples are taken

/// Whether a whole sample fits into the segment: its texts must be in the same segment.
bool has_room_for(Thread& thread, const ThreadStack& stack) {
  std::size_t bytes = sizeof(record::Sample) + record::kTextBytes + kMargin;
  for (const std::string* frame : stack.frames)
    bytes += sizeof(std::uint32_t) + record::kTextBytes + 8 + frame->size();
  return has_room(thread, static_cast<std::uint32_t>(bytes));
}

void tell(Thread& thread, const ThreadStack& stack, std::uint64_t tick, Microseconds period) {
  if (!has_room_for(thread, stack)) return;
  std::uint32_t ids[StackReader::kDeepest];
  std::uint32_t count = 0;
  for (const std::string* frame : stack.frames)
    ids[count++] =
        stepscope_text(&thread, record::Type::text, frame->data(), static_cast<std::uint32_t>(frame->size()))
            ->value;
  record::Sample sample;
  const std::size_t bytes = (sizeof sample + count * sizeof ids[0] + 7) & ~std::size_t{7};
  sample.type = record::Type::sample;
  sample.units = static_cast<std::uint16_t>(bytes / 8);
  sample.value = stack.thread;
  sample.tick = tick;
  sample.period_us = static_cast<std::uint32_t>(period.count());
  sample.count = count;
  std::memcpy(thread.segment + thread.used, &sample, sizeof sample);
  std::memcpy(thread.segment + thread.used + sizeof sample, ids, count * sizeof ids[0]);
  thread.used += static_cast<std::uint32_t>(bytes);
  commit(thread);
}

void take_samples(Sampler& own, Microseconds period) {
  Recorder* recorder = stepscope_recorder.load(std::memory_order_acquire);
  Thread* thread = recorder == nullptr ? nullptr : thread_of(*recorder);
  if (thread == nullptr) return;
  const std::uint64_t before = ticks(recorder->clock);
  const std::vector<ThreadStack> stacks = own.reader.read();
  const std::uint64_t taken = before + (ticks(recorder->clock) - before) / 2;
  for (const ThreadStack& stack : stacks) tell(*thread, stack, taken, period);
}

void run(Sampler& own) {
  ::pthread_setname_np(::pthread_self(), "stepscope");
  auto next = std::chrono::steady_clock::now();
  Microseconds period = kShortestPeriod, cost{0};
  std::unique_lock lock(own.mutex);
  while (!own.is_asked_to_end) {
    lock.unlock();
    const Microseconds before = own_time();
    take_samples(own, period);
    constexpr double kNewest = 1.0 / 8;
    cost += kNewest * (own_time() - before - cost);
    lock.lock();
    // Calls are joined across gaps of up to two stated periods, so the period grows by less at once.
    period = std::clamp(cost / kMaxShare, kShortestPeriod, std::min(kLongestPeriod, kMaxGrowth * period));
    next = std::max(next + std::chrono::duration_cast<std::chrono::steady_clock::duration>(period),
                    std::chrono::steady_clock::now());
    own.changed.wait_until(lock, next, [&] { return own.is_asked_to_end; });
  }
}

}  // namespace

std::string sampler_start() {
  if (sampler != nullptr && sampler->process == ::getpid()) return "";
  auto* own = new Sampler;
  if (std::string reason = own->reader.begin(); !reason.empty()) {
    delete own;
    return reason;
  }
  own->process = ::getpid();
  // Signals are for the program's threads.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::string reason;
  try {
    own->thread = std::thread(run, std::ref(*own));
  } catch (const std::system_error&) {
    reason = "no samples are taken: the system cannot start another thread";
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (reason.empty())
    sampler = own;
  else
    delete own;
  return reason;
}

void sampler_stop() {
  Sampler* own = sampler;
  sampler = nullptr;
  if (own == nullptr || own->process != ::getpid()) return;
  {
    const std::scoped_lock lock(own->mutex);
    own->is_asked_to_end = true;
  }
  own->changed.notify_all();
  own->thread.join();  // safe: it never waits for the interpreter's lock, which this thread holds
  if (sampled == nullptr) sampled = new std::set<SampledLine>;
  for (SampledLine& line : own->reader.lines()) sampled->insert(std::move(line));
  delete own;
}

PyObject* sampled_lines(PyObject*, PyObject*) {
  PyObject* lines = PyList_New(0);
  if (lines == nullptr || sampled == nullptr) return lines;
  for (const SampledLine& line : *sampled) {
    PyObject* entry = Py_BuildValue("(ssi)", line.path.c_str(), line.file.c_str(), line.line);
    const bool added = entry != nullptr && PyList_Append(lines, entry) == 0;
    Py_XDECREF(entry);
    if (added) continue;
    Py_DECREF(lines);
    return nullptr;
  }
  sampled->clear();
  return lines;
}

}  // namespace stepscope::collect
