#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "collect/cupti/buffers.h"
#include "collect/cupti/cupti.h"
#include "collect/cupti/decoder.h"
#include "collect/cupti/graph_nodes.h"
#include "collect/cupti/library.h"
#include "collect/cupti/session.h"

namespace stepscope::collect::cupti {
namespace {

constexpr int kFlushEvery = 1000;  // ms

/// Never freed: CUPTI may call back at any time, even at the program's end.
struct Collector {
  std::mutex control;  // held by attach, flush and detach
  std::mutex calls;    // held during each call of CUPTI, except in attach
  std::atomic<bool> exiting{false}, attached{false}, forked{false};

  bool is_prepared = false;
  const Library* library = nullptr;
  Session session;
  std::vector<std::uint32_t> enabled;
  Buffers buffers;
  std::atomic<std::uint64_t> discarded{0};  // bytes

  // State of the thread that reads buffers.
  std::unique_ptr<Decoder> decoder;
  std::thread thread;
  int wake = -1;
  std::mutex turn;
  std::condition_variable turned;
  std::uint64_t asked = 0, done = 0;  // number of turns; guarded by `turn`
  bool stop = false;                  // guarded by `turn`
};

Collector& collector() {
  static auto* const the_one = new Collector;
  return *the_one;
}

/// Skips the call once the program has begun to exit: CUPTI must not be called then.
template <class Call>
void unless_exiting(Collector& c, Call call) {
  const std::scoped_lock lock(c.calls);
  if (!c.exiting.load()) call();
}

void wake(const Collector& c) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(c.wake, &one, sizeof one);
}

// Callbacks of CUPTI, on the program's threads: no lock, no allocation, only atomic operations.

void request_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  Collector& c = collector();
  *most_records = 0;
  *buffer = c.buffers.take();
  if (*buffer == nullptr && c.library->version < kMayRefuseBuffers) *buffer = c.buffers.scratch();
  *bytes = *buffer == nullptr ? 0 : Buffers::kBytes;
}

void complete_buffer(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  Collector& c = collector();
  const unsigned index = c.buffers.index_of(buffer);
  if (index == Buffers::kScratch) c.discarded.fetch_add(valid, std::memory_order_relaxed);
  if (index >= Buffers::kCount) return;
  if (!c.attached.load(std::memory_order_acquire)) return c.buffers.give_back(index);
  c.buffers.complete(index, std::min(valid, Buffers::kBytes));
  wake(c);
}

void request_shared(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records, void*) {
  request_buffer(buffer, bytes, most_records);
}

void complete_shared(std::uint8_t* buffer, std::size_t bytes, std::size_t valid, void*) {
  complete_buffer(nullptr, 0, buffer, bytes, valid);
}

/// While we do not record, other users of CUPTI get its default clock.
std::uint64_t timestamp() {
  const bool ours = collector().attached.load(std::memory_order_relaxed);
  return static_cast<std::uint64_t>(nanoseconds(ours ? CLOCK_MONOTONIC : CLOCK_REALTIME));
}

void called_back(void*, std::uint32_t domain, std::uint32_t number, const void* data) {
  const Collector& c = collector();
  if (domain == kResource && c.attached.load(std::memory_order_acquire) && !c.exiting.load())
    record_graph_node(*c.library, number, data);
}

// The thread that reads buffers.

std::size_t dropped_records(Collector& c) {
  std::size_t dropped = 0;
  unless_exiting(c, [&] { dropped = c.session.dropped(); });
  return dropped;
}

void read_buffers(Collector& c) {
  c.buffers.drain([&](std::uint8_t* buffer, std::size_t valid) {
    unless_exiting(c, [&] { c.decoder->read(buffer, valid); });
  });
}

void run(Collector& c) {
  ::prctl(PR_SET_NAME, "stepscope-cupti");
  for (bool stop = false; !stop;) {
    pollfd ready{c.wake, POLLIN, 0};
    std::uint64_t count = 0;
    if (::poll(&ready, 1, kFlushEvery) > 0) {
      [[maybe_unused]] const auto read = ::read(c.wake, &count, sizeof count);
    } else {
      unless_exiting(c, [&] { c.session.flush(0); });
    }
    std::unique_lock lock(c.turn);
    const std::uint64_t asked = c.asked;
    const bool told = asked != c.done || count == 0;
    stop = c.stop;
    lock.unlock();
    read_buffers(c);
    if (told) c.decoder->tell_state(dropped_records(c), c.discarded.exchange(0));
    lock.lock();
    c.done = asked;
    c.turned.notify_all();
  }
}

/// Waits until all complete buffers have been read.
void wait_for_a_turn(Collector& c, bool stop) {
  std::unique_lock lock(c.turn);
  const std::uint64_t mine = ++c.asked;
  c.stop = stop;
  wake(c);
  c.turned.wait(lock, [&] { return c.done >= mine; });
}

void start_reading(Collector& c, record::DeviceClock clock, bool has_thread_ids) {
  c.decoder = std::make_unique<Decoder>(c.session, clock, has_thread_ids);
  c.stop = false;
  c.asked = c.done = 0;
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals go to the program's threads, not to ours
  c.thread = std::thread([&c] { run(c); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void stop_reading(Collector& c) {
  wait_for_a_turn(c, true);
  c.thread.join();
}

// Attaching.

Result enable(Collector& c, std::uint32_t kind, bool dump = false) {
  const Result result = dump ? c.session.enable_and_dump(kind) : c.session.enable(kind);
  if (result == kSuccess) c.enabled.push_back(kind);
  return result;
}

/// Upper bound of the numbers of CUDA's calls.
constexpr std::uint32_t kMaxCalls = 2048;

template <class Take>
void for_each_unrecorded(const Library& library, std::uint32_t domain, Take take) {
  for (std::uint32_t number = 1; number < kMaxCalls; ++number) {
    const char* name = nullptr;
    if (library.callback_name(domain, number, &name) != kSuccess || name == nullptr) continue;
    if (!is_recorded(domain, name)) take(number);
  }
}

/// Turns off the calls that we do not record if the library can select them; else the decoder drops them.
void enable_calls(Collector& c) {
  enable(c, kRuntime);
  enable(c, kDriver);
  if (!c.session.can_disable_calls()) return;
  for (const std::uint32_t domain : {kRuntimeApi, kDriverApi})
    for_each_unrecorded(*c.library, domain,
                        [&](std::uint32_t call) { c.session.disable_call(domain, call); });
}

void disable_all(Collector& c) {
  for (const std::uint32_t kind : c.enabled) c.session.disable(kind);
  c.enabled.clear();
}

Result enable_all(Collector& c) {
  for (const std::uint32_t kind : {kDevice, kContext}) enable(c, kind, true);
  if (const Result result = enable(c, kConcurrentKernel); result != kSuccess) return result;
  for (const std::uint32_t kind : {kMemcpy, kMemcpyPeer, kMemset, kSynchronization, kCudaEvent, kOverhead})
    enable(c, kind);
  enable_calls(c);
  if (c.library->version >= kHasGraphs && c.library->graph_node_id != nullptr)
    for (const std::uint32_t callback : {kNodeCreated, kNodeCloned})
      c.session.enable_callback(kResource, callback);
  return kSuccess;
}

/// Neither CUDA nor our thread survives a fork.
void forget_in_child() {
  Collector& c = collector();
  c.attached = false;
  c.forked = true;
  new (&c.control) std::mutex;
}

/// Lets no new call of CUPTI begin, and waits up to half a second for one that is running.
void before_exit() {
  Collector& c = collector();
  c.exiting = true;
  for (int i = 0; i < 50; ++i) {
    const std::unique_lock lock(c.calls, std::try_to_lock);
    if (lock.owns_lock()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

int prepare(Collector& c, std::string& why) {
  if (!c.is_prepared) {
    if (std::atexit(before_exit) != 0 || ::pthread_atfork(nullptr, nullptr, forget_in_child) != 0)
      return why = "out of memory", ENOMEM;
    c.is_prepared = true;
  }
  if (const int error = find_library(c.library, why); error != 0) return error;
  if (c.wake < 0) c.wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (c.wake < 0 || !c.buffers.reserve()) return why = "out of memory for CUPTI's buffers", ENOMEM;
  return 0;
}

int undo(Collector& c, Result result, std::string& why) {
  disable_all(c);
  c.session.flush(kFlushForced);
  stop_reading(c);
  c.attached = false;
  c.session.close();
  why = words_of(*c.library, result);
  return errno_of(result);
}

int attach(Collector& c, std::string& why) {
  if (const int error = prepare(c, why); error != 0) return error;
  std::string holder;
  const Callbacks callbacks{called_back, request_buffer, complete_buffer, request_shared, complete_shared};
  if (const Result result = c.session.open(*c.library, callbacks, holder); result != kSuccess) {
    why = words_of(*c.library, result);
    if (!holder.empty()) why += "; it is " + holder;
    return errno_of(result);
  }
  const bool has_thread_ids = c.session.use_system_thread_ids() == kSuccess;
  c.attached = true;
  const bool has_clock = c.session.use_clock(timestamp) == kSuccess;
  start_reading(c, has_clock ? record::DeviceClock::monotonic : record::DeviceClock::library, has_thread_ids);
  Result result = c.session.register_buffers();
  if (result == kSuccess) result = enable_all(c);
  return result == kSuccess ? 0 : undo(c, result, why);
}

}  // namespace
}  // namespace stepscope::collect::cupti

using stepscope::collect::cupti::Collector;
using stepscope::collect::cupti::collector;

extern "C" {

int stepscope_cupti_attach(unsigned options, char* why, std::size_t bytes) {
  std::string reason;
  int error = 0;
  try {
    Collector& c = collector();
    const std::scoped_lock lock(c.control);
    if (options != 0)
      error = EINVAL, reason = "unknown option";
    else if (c.forked)
      error = ENODEV, reason = "CUDA does not work after a fork; record in a newly started process";
    else if (c.exiting)
      error = ENODEV, reason = "the program is exiting";
    else if (c.attached)
      error = EALREADY, reason = "GPUs are already being recorded";
    else
      error = attach(c, reason);
  } catch (const std::exception& exception) {
    error = ENOMEM;
    reason = exception.what();
  }
  if (bytes > 0) {
    const std::size_t length = std::min(reason.size(), bytes - 1);
    std::memcpy(why, reason.data(), length);
    why[length] = '\0';
  }
  return error;
}

int stepscope_cupti_flush() {
  using namespace stepscope::collect::cupti;
  Collector& c = collector();
  const std::scoped_lock lock(c.control);
  if (!c.attached) return ENXIO;
  unless_exiting(c, [&] { c.session.flush(0); });
  wait_for_a_turn(c, false);
  return 0;
}

int stepscope_cupti_detach() {
  using namespace stepscope::collect::cupti;
  Collector& c = collector();
  const std::scoped_lock lock(c.control);
  if (!c.attached) return ENXIO;
  // First flush what is complete: a forced flush sets the end of running work to 0 for good.
  unless_exiting(c, [&] {
    c.session.flush(0);
    disable_all(c);
    c.session.flush(kFlushForced);
  });
  stop_reading(c);
  c.attached = false;
  unless_exiting(c, [&] { c.session.close(); });
  return 0;
}
}
