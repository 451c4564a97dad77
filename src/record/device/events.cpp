#include "record/device/events.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "record/device/calls.h"
#include "record/device/words.h"

namespace stepscope::record {
namespace {

class DeviceReader {
 public:
  DeviceReader(const Recording& recording, Interned& names)
      : recording_(recording), names_(names), calls_(recording) {}

  std::vector<DeviceEvent> read(std::vector<HostRange> ranges,
                                std::span<const std::string_view> annotations) {
    if (!calls_.has_devices()) return {};
    calls_.join(ranges);
    for (const Segment& segment : recording_.segments())
      if (calls_.wrote(segment)) read(segment);
    for (const auto& [key, span] : spans_) {
      const auto& [annotation, device, stream] = key;
      const HostRange& range = calls_.annotations()[static_cast<std::size_t>(annotation)];
      // Widened by 1 ns at each end, as in Kineto, so that the work inside nests.
      events_.push_back({DeviceEvent::Kind::annotation, span.begin_ns - 1, span.end_ns + 1,
                         names_.id(annotations[static_cast<std::size_t>(range.name)]), 0, device, stream});
    }
    return std::move(events_);
  }

 private:
  struct Span {
    std::int64_t begin_ns, end_ns;
  };

  void read(const Segment& segment) {
    const Texts texts(segment);
    std::map<std::uint32_t, std::uint32_t> kernels;  // names by their id in the segment
    for_each_record(segment, [&](const Record& record, std::span<const char> bytes) {
      if (ApiCall call; record.type == Type::api_call && copy_to(call, bytes)) {
        const std::int64_t begin = calls_.ns(call.begin);
        events_.push_back({DeviceEvent::Kind::call, begin, std::max(begin, calls_.ns(call.end)),
                           names_.id(texts[call.value]), call.thread, -1, -1});
      }
      if (Kernel kernel; record.type == Type::kernel && copy_to(kernel, bytes)) {
        const auto [known, is_new] = kernels.try_emplace(kernel.value, 0);
        if (is_new) known->second = names_.id(demangled(texts[kernel.value]));
        work(kernel, known->second);
      }
      if (Memcpy copy; record.type == Type::memcpy && copy_to(copy, bytes))
        work(copy, names_.id(copy_name(copy)));
      if (Memset fill; record.type == Type::memset && copy_to(fill, bytes))
        work(fill, names_.id(fill_name(fill)));
    });
  }

  void work(const DeviceWork& work, std::uint32_t name) {
    if (work.begin <= 0 || work.end <= 0) return;  // not measured
    const std::int64_t begin = calls_.ns(work.begin), end = std::max(begin, calls_.ns(work.end));
    const std::int64_t stream = work.stream == kNone ? -1 : std::int64_t{work.stream};
    const LaunchCall* call = calls_.of(work.correlation, begin);
    events_.push_back({DeviceEvent::Kind::work, begin, end, name, call == nullptr ? 0 : call->thread,
                       work.device, stream, call == nullptr ? 0 : call->op});
    if (call == nullptr || call->annotation < 0) return;
    Span& span = spans_.try_emplace({call->annotation, work.device, stream}, Span{begin, end}).first->second;
    span.begin_ns = std::min(span.begin_ns, begin);
    span.end_ns = std::max(span.end_ns, end);
  }

  const Recording& recording_;
  Interned& names_;
  DeviceCalls calls_;
  std::vector<DeviceEvent> events_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, Span> spans_;  // annotation, device, stream
};

}  // namespace

std::vector<DeviceEvent> device_events(const Recording& recording, std::vector<HostRange> ranges,
                                       std::span<const std::string_view> annotations, Interned& names) {
  return DeviceReader(recording, names).read(std::move(ranges), annotations);
}

}  // namespace stepscope::record
