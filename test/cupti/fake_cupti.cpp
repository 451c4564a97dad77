#include "cupti/fake_cupti.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <utility>
#include <vector>

#include "cupti/fake_client.h"
#include "cupti/fake_records.h"

namespace {

using namespace fake_client;   // NOLINT
using namespace fake_records;  // NOLINT

void append_api(Client& c, const FakeCall& call, std::int64_t begin, std::int64_t end,
                std::uint32_t correlation) {
  const State& s = state();
  const std::uint32_t runtime = number_of(kRuntimeNames, call.name, kFirstRuntime);
  const std::uint32_t driver = number_of(kDriverNames, call.name, kFirstDriver);
  if (runtime != 0 && (!c.kinds.contains(5) || c.runtime_off.contains(runtime))) return;
  if (runtime == 0 && (!c.kinds.contains(4) || c.driver_off.contains(driver))) return;
  Bytes record = record_of(runtime != 0 ? 5 : 4, s.strides.api);
  put(record, 4, runtime != 0 ? runtime : driver);
  put(record, 8, begin);
  put(record, 16, end);
  put(record, 24, static_cast<std::uint32_t>(::getpid()));
  put(record, 28, static_cast<std::uint32_t>(::syscall(SYS_gettid)));
  put(record, 32, correlation);
  append(c, std::move(record));
}

void append_work(Client& c, const FakeCall& call, std::int64_t call_end, std::uint32_t correlation) {
  const State& s = state();
  std::int64_t begin = call_end + call.delay;
  for (std::uint32_t i = 0; i < call.works; ++i, begin += call.duration) {
    const std::int64_t end = call.runs_on ? 0 : begin + call.duration;
    const std::int64_t told_begin = s.options.untimed ? 0 : begin, told_end = s.options.untimed ? 0 : end;
    c.runs_on |= call.runs_on;
    if (call.work == FakeCall::kernel && c.kinds.contains(10))
      append(c, kernel_record(s.strides, call, told_begin, told_end, correlation));
    if (call.work == FakeCall::copy && c.kinds.contains(1))
      append(c, copy_record(s.strides, call, told_begin, told_end, correlation));
    if (call.work == FakeCall::peer_copy && c.kinds.contains(22))
      append(c, copy_record(s.strides, call, told_begin, told_end, correlation));
    if (call.work == FakeCall::fill && c.kinds.contains(2))
      append(c, fill_record(s.strides, call, told_begin, told_end, correlation));
  }
}

void append_wait(Client& c, const FakeCall& call, std::int64_t begin, std::int64_t end,
                 std::uint32_t correlation) {
  const State& s = state();
  if (call.wait != 0 && c.kinds.contains(38)) {
    Bytes record = record_of(38, s.strides.wait);
    put(record, 4, call.wait);
    put(record, 8, begin);
    put(record, 16, end);
    put(record, 24, correlation);
    put(record, 28, call.context);
    put(record, 32, call.stream);
    put(record, 36, call.event);
    append(c, std::move(record));
  }
  if (call.records_event && c.kinds.contains(36)) {
    Bytes record = record_of(36, s.strides.event);
    put(record, 4, correlation);
    put(record, 8, call.context);
    put(record, 12, call.stream);
    put(record, 16, call.event);
    append(c, std::move(record));
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
  std::vector<std::int64_t> begins;
  for_each_client([&](const Client& c) { begins.push_back(now(c)); });
  const std::int64_t until = real_time() + call.call_duration;
  while (real_time() < until) {
  }
  const std::scoped_lock lock(s.mutex);
  std::size_t i = 0;
  for_each_client([&](Client& c) {
    const std::int64_t begin = begins[i++], end = begin + call.call_duration;
    if (!s.options.work_first) append_api(c, call, begin, end, correlation);
    append_work(c, call, end, correlation);
    append_wait(c, call, begin, end, correlation);
    if (s.options.work_first) append_api(c, call, begin, end, correlation);
  });
  return correlation;
}

void fake_overhead(std::uint32_t kind, std::int64_t duration) {
  State& s = state();
  const std::scoped_lock lock(s.mutex);
  for_each_client([&](Client& c) {
    if (!c.kinds.contains(17)) return;
    Bytes record = record_of(17, s.strides.overhead);
    put(record, 4, kind);
    const std::int64_t begin = now(c);
    put(record, 24, begin);
    put(record, 32, begin + duration);
    append(c, std::move(record));
  });
}

struct GraphData {
  void *graph, *original_graph, *node, *original_node;
  std::uint32_t type;
  void *dependency, *exec;
};
struct ResourceData {
  void *context, *stream;
  const GraphData* about;
};

void fake_node(std::uint64_t id, std::uint64_t original) {
  const std::uint32_t callback = original == 0 ? 13 : 20;
  Node node{id}, copied{original};
  const GraphData about{nullptr, nullptr, &node, original == 0 ? nullptr : &copied, 0, nullptr, nullptr};
  const ResourceData data{nullptr, nullptr, &about};
  for_each_client([&](const Client& c) {
    if (c.is_subscribed && c.resource_callbacks.contains(callback)) c.callback(nullptr, 3, callback, &data);
  });
}

void fake_reset(const FakeOptions& options) {
  State& s = state();
  const std::scoped_lock lock(s.mutex);
  s.options = options;
  for (const Strides& strides : kStrides)
    if (strides.version == options.version) s.strides = strides;
  for_each_client([](Client& c) {
    c.kinds.clear();
    c.driver_off.clear();
    c.runtime_off.clear();
    c.resource_callbacks.clear();
    c.pending.clear();
    deliver(c);  // an empty buffer
    c.clock = nullptr;
    c.dropped = 0;
  });
  s.forced = 0;
  s.correlation = options.first_correlation;
}

std::uint8_t* fake_take_buffer() {
  std::uint8_t* buffer = nullptr;
  std::size_t bytes = 0, most = 0;
  state().one.request(&buffer, &bytes, &most);
  return buffer;
}

void fake_complete_buffer(std::uint8_t* buffer) {
  Bytes record = record_of(17, state().strides.overhead);
  std::memcpy(buffer, record.data(), record.size());
  state().one.complete(nullptr, 0, buffer, std::size_t{4} << 20, record.size());
}

bool fake_runtime_call_is_on(const char* name) {
  const std::uint32_t number = number_of(kRuntimeNames, name, kFirstRuntime);
  bool is_on = true;
  for_each_client([&](const Client& c) { is_on &= !c.runtime_off.contains(number); });
  return is_on;
}

}  // namespace

extern "C" {

FakeCupti* fake_cupti() {
  static FakeCupti hooks = {fake_reset,
                            fake_call,
                            fake_overhead,
                            fake_node,
                            fake_take_buffer,
                            fake_complete_buffer,
                            subscribers,
                            [] {
                              const std::scoped_lock lock(state().mutex);
                              std::size_t count = 0;
                              for_each_client([&](const Client& c) { count += c.kinds.size(); });
                              return count;
                            },
                            [] { return state().forced; },
                            [] { return state().finalized; },
                            fake_runtime_call_is_on,
                            [] { return state().strides.version; }};
  return &hooks;
}
}
