#include "cupti/fake_cupti.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <ctime>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cupti/fake_records.h"

namespace {

using namespace fake_records;

constexpr std::array kRuntimeNames = {
    "cudaLaunchKernel_v7000",      "cudaMemcpyAsync_v3020",       "cudaMemsetAsync_v3020",
    "cudaStreamSynchronize_v3020", "cudaDeviceSynchronize_v3020", "cudaEventRecord_v3020",
    "cudaStreamWaitEvent_v3020",   "cudaGetDevice_v3020",         "cudaGraphLaunch_v10000",
    "cudaEventSynchronize_v3020",  "cudaMemcpyPeerAsync_v4000"};
constexpr std::array kDriverNames = {"cuLaunchKernel", "cuCtxGetCurrent", "cuMemCreate"};
constexpr std::uint32_t kFirstRuntime = 200, kFirstDriver = 300;

struct State {
  std::recursive_mutex mutex;  // the library's own mutex, held during its callbacks
  FakeOptions options;
  Strides strides = kStrides[1];
  void (*request)(std::uint8_t**, std::size_t*, std::size_t*) = nullptr;
  void (*complete)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t) = nullptr;
  std::atomic<std::uint64_t (*)()> clock{nullptr};
  std::set<std::uint32_t> kinds, driver_off, runtime_off;
  std::vector<Bytes> pending;  // records of the buffer that the client has not got back
  std::size_t pending_bytes = 0, room = 0;
  std::uint8_t* buffer = nullptr;
  std::size_t buffer_bytes = 0;
  bool runs_on = false;  // a record of the work is not complete
  std::size_t dropped = 0, subscribers = 0, forced = 0, finalized = 0;
  std::uint32_t correlation = 1;
  std::mt19937 random{7};
};

State& state() {
  static auto* const the_one = new State;
  return *the_one;
}

std::int64_t real_time() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec + state().options.clock_ahead;
}

std::int64_t now() {
  const auto clock = state().clock.load();
  return clock != nullptr ? static_cast<std::int64_t>(clock()) : real_time();
}

void deliver() {
  State& s = state();
  if (s.buffer == nullptr) return;
  if (s.options.shuffled) std::shuffle(s.pending.begin(), s.pending.end(), s.random);
  std::size_t at = 0;
  for (const Bytes& record : s.pending) {
    std::memcpy(s.buffer + at, record.data(), record.size());
    at += record.size();
  }
  std::uint8_t* buffer = std::exchange(s.buffer, nullptr);
  s.pending.clear();
  s.pending_bytes = 0;
  s.runs_on = false;
  s.complete(nullptr, 0, buffer, s.buffer_bytes, at);
}

void append(Bytes record) {
  State& s = state();
  if (s.request == nullptr) return;
  if (s.buffer != nullptr && s.pending_bytes + record.size() > s.room) deliver();
  if (s.buffer == nullptr) {
    std::size_t most = 1;
    s.request(&s.buffer, &s.buffer_bytes, &most);
    s.room = s.options.buffer_bytes > 0 ? std::min(s.options.buffer_bytes, s.buffer_bytes) : s.buffer_bytes;
  }
  if (s.buffer == nullptr || s.room < record.size()) {
    ++s.dropped;
    return;
  }
  s.pending_bytes += record.size();
  s.pending.push_back(std::move(record));
}

template <std::size_t N>
std::uint32_t number_of(const std::array<const char*, N>& names, const std::string& name,
                        std::uint32_t first) {
  for (std::size_t i = 0; i < N; ++i) {
    const std::string known = names[i];
    if (known == name || known.starts_with(name + "_v")) return first + static_cast<std::uint32_t>(i);
  }
  return 0;
}

void append_api(const FakeCall& call, std::int64_t begin, std::int64_t end, std::uint32_t correlation) {
  State& s = state();
  const std::uint32_t runtime = number_of(kRuntimeNames, call.name, kFirstRuntime);
  const std::uint32_t driver = number_of(kDriverNames, call.name, kFirstDriver);
  if (runtime != 0 && (!s.kinds.contains(5) || s.runtime_off.contains(runtime))) return;
  if (runtime == 0 && (!s.kinds.contains(4) || s.driver_off.contains(driver))) return;
  Bytes record = record_of(runtime != 0 ? 5 : 4, s.strides.api);
  put(record, 4, runtime != 0 ? runtime : driver);
  put(record, 8, begin);
  put(record, 16, end);
  put(record, 24, static_cast<std::uint32_t>(::getpid()));
  put(record, 28, static_cast<std::uint32_t>(::syscall(SYS_gettid)));
  put(record, 32, correlation);
  append(std::move(record));
}

void append_work(const FakeCall& call, std::int64_t call_end, std::uint32_t correlation) {
  State& s = state();
  std::int64_t begin = call_end + call.delay;
  for (std::uint32_t i = 0; i < call.works; ++i, begin += call.duration) {
    const std::int64_t end = call.runs_on ? 0 : begin + call.duration;
    const std::int64_t told_begin = s.options.untimed ? 0 : begin, told_end = s.options.untimed ? 0 : end;
    s.runs_on |= call.runs_on;
    if (call.work == FakeCall::kernel && s.kinds.contains(10))
      append(kernel_record(s.strides, call, told_begin, told_end, correlation));
    if (call.work == FakeCall::copy && s.kinds.contains(1))
      append(copy_record(s.strides, call, told_begin, told_end, correlation));
    if (call.work == FakeCall::peer_copy && s.kinds.contains(22))
      append(copy_record(s.strides, call, told_begin, told_end, correlation));
    if (call.work == FakeCall::fill && s.kinds.contains(2))
      append(fill_record(s.strides, call, told_begin, told_end, correlation));
  }
}

void append_wait(const FakeCall& call, std::int64_t begin, std::int64_t end, std::uint32_t correlation) {
  State& s = state();
  if (call.wait != 0 && s.kinds.contains(38)) {
    Bytes record = record_of(38, s.strides.wait);
    put(record, 4, call.wait);
    put(record, 8, begin);
    put(record, 16, end);
    put(record, 24, correlation);
    put(record, 28, call.context);
    put(record, 32, call.stream);
    put(record, 36, call.event);
    append(std::move(record));
  }
  if (call.records_event && s.kinds.contains(36)) {
    Bytes record = record_of(36, s.strides.event);
    put(record, 4, correlation);
    put(record, 8, call.context);
    put(record, 12, call.stream);
    put(record, 16, call.event);
    append(std::move(record));
  }
}

std::uint32_t next_correlation() {
  State& s = state();
  const std::scoped_lock lock(s.mutex);
  const std::uint32_t correlation = s.correlation;
  s.correlation = (s.correlation + 1) & s.options.correlation_mask;
  if (s.correlation == 0) s.correlation = 1;
  return correlation;
}

std::uint32_t fake_call(const FakeCall& call) {
  State& s = state();
  const std::uint32_t correlation = next_correlation();
  const std::int64_t begin = now(), end = begin + call.call_duration;
  while (now() < end) {
  }
  const std::scoped_lock lock(s.mutex);
  if (!s.options.work_first) append_api(call, begin, end, correlation);
  append_work(call, end, correlation);
  append_wait(call, begin, end, correlation);
  if (s.options.work_first) append_api(call, begin, end, correlation);
  return correlation;
}

void fake_overhead(std::uint32_t kind, std::int64_t duration) {
  State& s = state();
  const std::scoped_lock lock(s.mutex);
  if (!s.kinds.contains(17)) return;
  Bytes record = record_of(17, s.strides.overhead);
  put(record, 4, kind);
  const std::int64_t begin = now();
  put(record, 24, begin);
  put(record, 32, begin + duration);
  append(std::move(record));
}

void fake_reset(const FakeOptions& options) {
  State& s = state();
  const std::scoped_lock lock(s.mutex);
  s.options = options;
  for (const Strides& strides : kStrides)
    if (strides.version == options.version) s.strides = strides;
  s.kinds.clear();
  s.driver_off.clear();
  s.runtime_off.clear();
  s.pending.clear();
  deliver();  // an empty buffer
  s.clock = nullptr;
  s.dropped = s.forced = 0;
  s.correlation = options.first_correlation;
}

std::uint8_t* fake_take_buffer() {
  std::uint8_t* buffer = nullptr;
  std::size_t bytes = 0, most = 0;
  state().request(&buffer, &bytes, &most);
  return buffer;
}

void fake_complete_buffer(std::uint8_t* buffer) {
  Bytes record = record_of(17, state().strides.overhead);
  std::memcpy(buffer, record.data(), record.size());
  state().complete(nullptr, 0, buffer, std::size_t{4} << 20, record.size());
}

bool fake_runtime_call_is_on(const char* name) {
  return !state().runtime_off.contains(number_of(kRuntimeNames, name, kFirstRuntime));
}

/// Two devices, one context each.
void dump(std::uint32_t kind) {
  for (std::uint32_t i = 0; i < 2; ++i) {
    if (kind == 9) append(context_record(state().strides, i + 1, i));
    if (kind == 8) append(device_record(state().strides, i));
  }
}

}  // namespace

extern "C" {

FakeCupti* fake_cupti() {
  static FakeCupti hooks = {fake_reset,
                            fake_call,
                            fake_overhead,
                            fake_take_buffer,
                            fake_complete_buffer,
                            [] { return state().subscribers; },
                            [] {
                              const std::scoped_lock lock(state().mutex);
                              return state().kinds.size();
                            },
                            [] { return state().forced; },
                            [] { return state().finalized; },
                            fake_runtime_call_is_on,
                            [] { return state().strides.version; }};
  return &hooks;
}

int cuptiGetVersion(std::uint32_t* version) {
  *version = state().options.version;
  return 0;
}
int cuptiGetTimestamp(std::uint64_t* timestamp) {
  *timestamp = static_cast<std::uint64_t>(now());
  return 0;
}
int cuptiSubscribe(void** subscriber, void*, void*) {
  State& s = state();
  if (s.options.subscribe_error != 0) return s.options.subscribe_error;
  if (s.subscribers > 0) return 39;
  ++s.subscribers;
  *subscriber = &s;
  return 0;
}
struct SubscriberParams {
  std::size_t bytes;
  const char* name;
  char* holder;
  std::size_t holder_bytes;
  std::uint8_t allow_others, pad[7];
};
int cuptiSubscribe_v2(void**, void*, void*, SubscriberParams* params) {
  if (params->bytes != 40) return 1;
  std::strncpy(params->holder, state().options.holder, params->holder_bytes - 1);
  return 39;
}
int cuptiUnsubscribe(void*) {
  --state().subscribers;
  return 0;
}
int cuptiActivityRegisterCallbacks(void (*request)(std::uint8_t**, std::size_t*, std::size_t*),
                                   void (*complete)(void*, std::uint32_t, std::uint8_t*, std::size_t,
                                                    std::size_t)) {
  const std::scoped_lock lock(state().mutex);
  state().request = request;
  state().complete = complete;
  return 0;
}
int cuptiActivityRegisterTimestampCallback(std::uint64_t (*clock)()) {
  if (!state().options.has_clock) return 11;
  const std::scoped_lock lock(state().mutex);
  if (!state().kinds.empty()) return 7;  // too late: kinds are enabled already
  state().clock = clock;
  return 0;
}
int cuptiSetThreadIdType(std::uint32_t type) { return type == 1 ? 0 : 1; }
int cuptiActivityEnable(std::uint32_t kind) {
  State& s = state();
  const std::scoped_lock lock(s.mutex);
  if (kind == 3) return 14;  // this kind would serialize kernels
  if (kind == 10 && s.options.enable_error != 0) return s.options.enable_error;
  s.kinds.insert(kind);
  if (kind == 4) s.driver_off.clear();  // a kind overrides what was said of single calls
  if (kind == 5) s.runtime_off.clear();
  return 0;
}
int cuptiActivityEnableAndDump(std::uint32_t kind) {
  const std::scoped_lock lock(state().mutex);
  if (const int error = cuptiActivityEnable(kind); error != 0) return error;
  dump(kind);
  return 0;
}
int cuptiActivityDisable(std::uint32_t kind) {
  State& s = state();
  const std::scoped_lock lock(s.mutex);
  s.kinds.erase(kind);
  return 0;
}
int cuptiActivityEnableDriverApi(std::uint32_t number, std::uint8_t on) {
  State& s = state();
  const std::scoped_lock lock(s.mutex);
  if (on != 0)
    s.driver_off.erase(number);
  else
    s.driver_off.insert(number);
  return 0;
}
int cuptiActivityEnableRuntimeApi(std::uint32_t number, std::uint8_t on) {
  State& s = state();
  const std::scoped_lock lock(s.mutex);
  if (on != 0)
    s.runtime_off.erase(number);
  else
    s.runtime_off.insert(number);
  return 0;
}
int cuptiActivityFlushAll(std::uint32_t flag) {
  State& s = state();
  const std::scoped_lock lock(s.mutex);
  s.forced += flag;
  if (flag != 0 || !s.runs_on) deliver();
  return 0;
}
int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  const std::scoped_lock lock(state().mutex);
  *dropped = std::exchange(state().dropped, 0);
  return 0;
}
int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
  const std::size_t last = *record == nullptr ? 0 : static_cast<std::size_t>(*record - buffer);
  std::uint32_t kind = 0;
  if (*record != nullptr) std::memcpy(&kind, *record, sizeof kind);
  const std::size_t at = *record == nullptr ? 0 : last + stride_of(state().strides, kind);
  if (at >= valid) return 12;
  std::memcpy(&kind, buffer + at, sizeof kind);
  if (stride_of(state().strides, kind) == 0 || at + stride_of(state().strides, kind) > valid) return 21;
  *record = buffer + at;
  return 0;
}
int cuptiGetCallbackName(std::uint32_t domain, std::uint32_t number, const char** name) {
  const auto find = [&](const auto& names, std::uint32_t first) {
    if (number < first || number - first >= names.size()) return 1;
    *name = names[number - first];
    return 0;
  };
  return domain == 1 ? find(kDriverNames, kFirstDriver) : find(kRuntimeNames, kFirstRuntime);
}
int cuptiGetResultString(int, const char** text) {
  *text = "CUPTI_ERROR_FAKE";
  return 0;
}
int cuptiFinalize() {
  ++state().finalized;
  return 0;
}
}
