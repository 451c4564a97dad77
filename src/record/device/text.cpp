#include "record/device/text.h"

#include <cstring>
#include <unordered_map>

#include "base/text.h"
#include "record/device/occupancy.h"
#include "record/device/words.h"

namespace stepscope::record {
namespace {

constexpr std::uint32_t kEventWait = 1, kStreamWait = 2;

/// The id as a number; -1 for kNone.
std::int64_t or_none(std::uint32_t id) { return id == kNone ? -1 : std::int64_t{id}; }

void put_six(std::string& out, double value) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, 6).ptr;
  out.append(digits, end);
}

/// Args that begin with the op around `call`, if there is one.
EventArgs args_of(EventText& text, const LaunchCall* call) {
  EventArgs args(text.out);
  if (call != nullptr && call->op != 0) args.add("External id", call->op);
  return args;
}

}  // namespace

template <class Take>
void DeviceText::for_each(Take take) const {
  for (const Segment& segment : recording_.segments())
    if (wrote(segment)) for_each_record(segment, take);
}

DeviceText::DeviceText(const Recording& recording) : recording_(recording), calls_(recording) {
  for (const Segment& segment : recording.segments())
    if (wrote(segment)) look_at(segment);
}

/// Collects devices, contexts and event records before the first event is written.
void DeviceText::look_at(const Segment& segment) {
  const Texts texts(segment);
  for_each_record(segment, [&](const Record& record, std::span<const char> bytes) {
    if (DeviceAttributes device; record.type == Type::device_attributes && copy_to(device, bytes))
      devices_.try_emplace(device.device, Device{std::string(texts[device.value]), device});
    if (DeviceContext context; record.type == Type::device_context && copy_to(context, bytes))
      contexts_[context.value] = context.device;
    if (EventRecord event; record.type == Type::event_record && copy_to(event, bytes))
      event_records_[{event.context, event.value}].try_emplace(event.correlation, event);
    const bool is_work =
        record.type == Type::kernel || record.type == Type::memcpy || record.type == Type::memset;
    if (DeviceWork work; is_work && copy_to(work, bytes)) {
      contexts_.try_emplace(work.context, work.device);
      work_streams_.emplace(work.device, or_none(work.stream));
      unknown_nodes_ += work.graph != 0 && !calls_.knows(work.graph_node) ? 1 : 0;
    }
  });
}

void DeviceText::add(HostRange range, bool is_annotation, std::string_view name) {
  if (is_annotation) {
    range.name = static_cast<std::int64_t>(range_names_.size());
    range_names_.emplace_back(name);
  } else if (calls_.makes_nodes(range)) {
    makers_.emplace(range.id, name);
  }
  ranges_.push_back(range);
}

void DeviceText::properties(std::string& out) const {
  bool first = true;
  for (const auto& [id, device] : devices_) {
    const DeviceAttributes& a = device.attributes;
    out += first ? "{\"id\": " : ", {\"id\": ";
    first = false;
    put(out, id);
    out += ", \"name\": ";
    append_json(out, device.name);
    const auto tell = [&](std::string_view key, std::uint64_t value) {
      out += ", \"";
      out += key;
      out += "\": ";
      put(out, static_cast<std::int64_t>(value));
    };
    tell("totalGlobalMem", a.memory);
    tell("computeMajor", a.compute_major);
    tell("computeMinor", a.compute_minor);
    tell("maxThreadsPerBlock", a.threads_per_block);
    tell("maxThreadsPerMultiprocessor", std::uint64_t{a.warps_per_multiprocessor} * a.warp_threads);
    tell("regsPerBlock", a.registers_per_block);
    tell("warpSize", a.warp_threads);
    tell("sharedMemPerBlock", a.shared_per_block);
    tell("numSms", a.multiprocessors);
    tell("regsPerMultiprocessor", a.registers_per_multiprocessor);
    tell("sharedMemPerMultiprocessor", a.shared_per_multiprocessor);
    out += '}';
  }
}

void DeviceText::metadata(std::string& out) const {
  if (calls_.library_version() == 0) return;
  out += R"(, "cupti_version": )";
  put(out, calls_.library_version());
  if (unknown_nodes_ == 0) return;
  out += R"(, "stepscope.not_recorded.graphs": ["the operators of )";
  put(out, static_cast<std::int64_t>(unknown_nodes_));
  out +=
      R"( kernels, copies and fills of CUDA graphs: the recording must begin before their graphs are captured"])";
}

void DeviceText::events(EventText& text) {
  calls_.join(ranges_);
  ranges_ = {};
  mark_calls_with_work();
  for (const Segment& segment : recording_.segments())
    if (text.whole() && wrote(segment)) write(text, segment);
  annotations(text);
  names(text);
}

void DeviceText::mark_calls_with_work() {
  for_each([&](const Record& record, std::span<const char> bytes) {
    DeviceWork work;
    Synchronization wait;
    LaunchCall* call = nullptr;
    if (record.type == Type::synchronization && copy_to(wait, bytes))
      call = call_of(wait.correlation, ns(wait.begin));
    else if ((record.type == Type::kernel || record.type == Type::memcpy || record.type == Type::memset) &&
             copy_to(work, bytes))
      call = call_of(work.correlation, ns(work.begin));
    if (call != nullptr) call->has_work = true;
  });
}

void DeviceText::write(EventText& text, const Segment& segment) {
  const Texts texts(segment);
  std::unordered_map<std::uint32_t, std::string> kernel_names;
  for_each_record(segment, [&](const Record& record, std::span<const char> bytes) {
    if (ApiCall call; record.type == Type::api_call && copy_to(call, bytes))
      api_call(text, call, texts[call.value]);
    if (Kernel work; record.type == Type::kernel && copy_to(work, bytes)) {
      const auto [known, is_new] = kernel_names.try_emplace(work.value);
      if (is_new) known->second = demangled(texts[work.value]);
      kernel(text, work, known->second);
    }
    if (Memcpy work; record.type == Type::memcpy && copy_to(work, bytes)) copy(text, work);
    if (Memset work; record.type == Type::memset && copy_to(work, bytes)) fill(text, work);
    if (Synchronization waited; record.type == Type::synchronization && copy_to(waited, bytes))
      wait(text, waited);
    if (Overhead spent; record.type == Type::overhead && copy_to(spent, bytes)) overhead(text, spent);
    text.pass_on_if_long();
  });
}

/// One end of an arrow from a call to work that it launched.
void DeviceText::arrow(EventText& text, const LaunchCall* call, bool starts, std::int64_t pid,
                       std::int64_t tid, std::int64_t at) const {
  if (call == nullptr || !call->has_work) return;
  text.begin(starts ? "s" : "f", "ac2g", "ac2g", pid, tid, at);
  text.arrow(call->flow(), starts);
}

void DeviceText::api_call(EventText& text, const ApiCall& call, std::string_view name) {
  const std::int64_t begin = ns(call.begin);
  const LaunchCall* launch = call_of(call.correlation, begin);
  text.begin("X", call.is_driver != 0 ? "cuda_driver" : "cuda_runtime", name, recording_.pid(), call.thread,
             begin);
  text.duration(ns(call.end) - begin);
  EventArgs args = args_of(text, launch);
  args.add("cbid", call.number);
  args.add("correlation", launch != nullptr ? launch->flow() : std::int64_t{call.correlation});
  args.end();
  arrow(text, launch, true, recording_.pid(), call.thread, begin);
}

bool DeviceText::begin_work(EventText& text, const DeviceWork& work, std::string_view category,
                            std::string_view name) {
  if (work.begin <= 0 || work.end <= 0) return false;
  const std::int64_t begin = ns(work.begin), end = ns(work.end);
  text.begin("X", category, name, work.device, or_none(work.stream), begin);
  text.duration(end - begin);
  streams_.emplace(work.device, or_none(work.stream));
  const LaunchCall* call = call_of(work.correlation, begin);
  if (call == nullptr || call->annotation < 0) return true;
  const auto [span, is_new] =
      spans_.try_emplace({call->annotation, work.device, work.stream}, Span{begin, end});
  if (!is_new) {
    span->second.begin_ns = std::min(span->second.begin_ns, begin);
    span->second.end_ns = std::max(span->second.end_ns, end);
  }
  return true;
}

void DeviceText::place_args(EventArgs& args, const DeviceWork& work, const LaunchCall* call,
                            bool peer) const {
  if (!peer) args.add("device", work.device).add("context", work.context);
  args.add("stream", or_none(work.stream));
  args.add("correlation", call != nullptr ? call->flow() : std::int64_t{work.correlation});
  if (work.graph == 0) return;
  args.add("graph id", work.graph).add("graph node id", static_cast<std::int64_t>(work.graph_node));
  const auto maker = makers_.find(calls_.maker_of(work.graph_node));
  if (maker != makers_.end()) args.add("captured by", maker->second).add("captured by id", maker->first);
}

void DeviceText::kernel(EventText& text, const Kernel& kernel, std::string_view name) {
  if (!begin_work(text, kernel, "kernel", name)) return;
  const std::int64_t begin = ns(kernel.begin);
  const LaunchCall* call = call_of(kernel.correlation, begin);
  EventArgs args = args_of(text, call);
  args.add("queued", kernel.queued);
  place_args(args, kernel, call);
  args.add("registers per thread", kernel.registers);
  args.add("shared memory", std::int64_t{kernel.static_shared} + kernel.dynamic_shared);
  const auto device = devices_.find(kernel.device);
  if (device != devices_.end()) {
    const Occupancy occupancy = occupancy_of(kernel, device->second.attributes);
    put_six(args.key("blocks per SM"), occupancy.blocks_per_multiprocessor);
    put_six(args.key("warps per SM"), occupancy.warps_per_multiprocessor);
    args.add("est. achieved occupancy %", occupancy.percent);
  }
  for (const auto& [key, of] : {std::pair("grid", &kernel.grid), std::pair("block", &kernel.block)}) {
    std::string& out = args.key(key);
    for (std::size_t i = 0; i < 3; ++i) {
      out += i == 0 ? "[" : ", ";
      put(out, (*of)[i]);
    }
    out += ']';
  }
  args.end();
  arrow(text, call, false, kernel.device, or_none(kernel.stream), begin);
}

void DeviceText::amount(EventArgs& args, const DeviceWork& work, std::uint64_t bytes) const {
  args.add("bytes", static_cast<std::int64_t>(bytes));
  const std::int64_t duration = ns(work.end) - ns(work.begin);
  if (duration > 0) {
    put_real(args.key("memory bandwidth (GB/s)"), static_cast<double>(bytes) / static_cast<double>(duration));
  }
  args.end();
}

void DeviceText::copy(EventText& text, const Memcpy& copy) {
  const bool peer = copy.value == 1;
  if (!begin_work(text, copy, "gpu_memcpy", copy_name(copy))) return;
  const LaunchCall* call = call_of(copy.correlation, ns(copy.begin));
  EventArgs args = args_of(text, call);
  if (peer)
    args.add("fromDevice", copy.from_device)
        .add("inDevice", copy.device)
        .add("toDevice", copy.to_device)
        .add("fromContext", copy.from_context)
        .add("inContext", copy.context)
        .add("toContext", copy.to_context);
  place_args(args, copy, call, peer);
  amount(args, copy, copy.bytes);
  arrow(text, call, false, copy.device, or_none(copy.stream), ns(copy.begin));
}

void DeviceText::fill(EventText& text, const Memset& fill) {
  if (!begin_work(text, fill, "gpu_memset", fill_name(fill))) return;
  const LaunchCall* call = call_of(fill.correlation, ns(fill.begin));
  EventArgs args = args_of(text, call);
  place_args(args, fill, call);
  amount(args, fill, fill.bytes);
  arrow(text, call, false, fill.device, or_none(fill.stream), ns(fill.begin));
}

/// -1: not known.
std::int64_t DeviceText::device_of(std::uint32_t context) const {
  if (const auto known = contexts_.find(context); known != contexts_.end()) return known->second;
  return devices_.size() == 1 ? std::int64_t{devices_.begin()->first} : -1;
}

/// Adds the latest record of the awaited event before the wait. Correlations may wrap around.
void DeviceText::waited_event(EventArgs& args, const Synchronization& wait) const {
  const EventRecord* latest = nullptr;
  if (const auto of = event_records_.find({wait.context, wait.event}); of != event_records_.end()) {
    const auto after = of->second.upper_bound(wait.correlation);
    latest = &(after == of->second.begin() ? of->second.rbegin() : std::make_reverse_iterator(after))->second;
  }
  args.add("wait_on_stream", latest == nullptr ? -1 : or_none(latest->stream));
  args.add("wait_on_cuda_event_record_corr_id", latest == nullptr ? -1 : std::int64_t{latest->correlation});
  args.add("wait_on_cuda_event_id", or_none(wait.event));
}

void DeviceText::wait(EventText& text, const Synchronization& wait) {
  const std::int64_t device = device_of(wait.context), stream = or_none(wait.stream);
  if (device < 0 || wait.begin <= 0 || wait.end <= 0) return;
  // A wait of a stream without work is not visible in the trace.
  if (wait.value == kStreamWait && !work_streams_.contains({device, stream})) return;
  const std::int64_t begin = ns(wait.begin);
  const std::string_view kind = wait_name(wait.value);
  const LaunchCall* call = call_of(wait.correlation, begin);
  text.begin("X", "cuda_sync", kind, device, stream, begin);
  text.duration(ns(wait.end) - begin);
  streams_.emplace(device, stream);
  EventArgs args = args_of(text, call);
  args.add("cuda_sync_kind", kind);
  if (wait.value == kEventWait || wait.value == kStreamWait) waited_event(args, wait);
  args.add("stream", stream);
  args.add("correlation", call != nullptr ? call->flow() : std::int64_t{wait.correlation});
  args.add("device", device).add("context", wait.context);
  args.end();
  arrow(text, call, false, device, stream, begin);
}

void DeviceText::overhead(EventText& text, const Overhead& overhead) const {
  if (overhead.begin <= 0 || overhead.end <= 0) return;
  text.begin("X", "overhead", overhead_name(overhead.value), -1, 0, ns(overhead.begin));
  text.duration(ns(overhead.end) - ns(overhead.begin));
  text.out += '}';
}

/// Each annotation per stream: spans the work that was launched directly inside it. Widened by 1 ns at each
/// end, as in Kineto, so that the work nests.
void DeviceText::annotations(EventText& text) const {
  for (const auto& [key, span] : spans_) {
    const auto& [annotation, device, stream] = key;
    const HostRange& range = calls_.annotations()[static_cast<std::size_t>(annotation)];
    text.begin("X", "gpu_user_annotation", range_names_[static_cast<std::size_t>(range.name)], device,
               or_none(stream), span.begin_ns - 1);
    text.duration(span.end_ns - span.begin_ns + 2);
    EventArgs(text.out).add("External id", range.id).end();
    text.pass_on_if_long();
  }
}

void DeviceText::names(EventText& text) const {
  const auto tell = [&](std::string_view what, std::int64_t pid, std::int64_t tid) {
    text.begin("M", "", what, pid, tid, recording_.begin_ns());
    return EventArgs(text.out);
  };
  std::set<std::int64_t> devices;
  for (const auto& known : devices_) devices.insert(known.first);
  for (const auto& [device, stream] : streams_) devices.insert(device);
  for (const std::int64_t device : devices) {
    tell("process_name", device, 0).add("name", "python").end();
    tell("process_labels", device, 0).add("labels", "GPU " + std::to_string(device)).end();
    tell("process_sort_index", device, 0).add("sort_index", 5'000'000 + device).end();
  }
  for (const auto& [device, stream] : streams_) {
    const std::string name =
        stream < 0 ? "Device " + std::to_string(device) : "stream " + std::to_string(stream) + " ";
    tell("thread_name", device, stream).add("name", name).end();
    tell("thread_sort_index", device, stream).add("sort_index", stream).end();
  }
}

}  // namespace stepscope::record
