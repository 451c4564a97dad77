// The devices of a recording, written as Kineto's JSON.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "record/device/calls.h"
#include "record/device/format.h"
#include "record/recording.h"
#include "record/text/event_text.h"

namespace stepscope::record {

class DeviceText {
 public:
  /// Scans the recording, which must outlive this object.
  explicit DeviceText(const Recording& recording);

  /// The members of "deviceProperties".
  void properties(std::string& out) const;
  /// More top-level members of the document.
  void metadata(std::string& out) const;

  /// Ops and ranges that may contain calls. Add all of them before calling events().
  bool wants(const Op& op) const { return calls_.stands_in(op); }
  void add(HostRange range, bool is_annotation, std::string_view name);

  /// Writes calls, device work, the arrows between them, and the names of devices and streams.
  void events(EventText& text);

  /// The segment belongs to the collector's thread that writes device records, not to a thread of the
  /// program.
  bool wrote(const Segment& segment) const { return calls_.wrote(segment); }

 private:
  struct Device {
    std::string name;
    DeviceAttributes attributes;
  };
  struct Span {
    std::int64_t begin_ns, end_ns;
  };

  template <class Take>
  void for_each(Take take) const;
  void look_at(const Segment& segment);
  std::int64_t ns(std::int64_t device_ns) const { return calls_.ns(device_ns); }
  void mark_calls_with_work();
  void write(EventText& text, const Segment& segment);
  void api_call(EventText& text, const ApiCall& call, std::string_view name);
  void kernel(EventText& text, const Kernel& kernel, std::string_view json_name);
  void copy(EventText& text, const Memcpy& copy);
  void fill(EventText& text, const Memset& fill);
  void wait(EventText& text, const Synchronization& wait);
  void waited_event(EventArgs& args, const Synchronization& wait) const;
  void overhead(EventText& text, const Overhead& overhead) const;
  /// Begins an event of a device. False: it has no times.
  bool begin_work(EventText& text, const DeviceWork& work, std::string_view category, std::string_view name);
  LaunchCall* call_of(std::uint32_t correlation, std::int64_t begin_ns) {
    return calls_.of(correlation, begin_ns);
  }
  void place_args(EventArgs& args, const DeviceWork& work, const LaunchCall* call, bool peer = false) const;
  void amount(EventArgs& args, const DeviceWork& work, std::uint64_t bytes) const;
  void arrow(EventText& text, const LaunchCall* call, bool starts, std::int64_t pid, std::int64_t tid,
             std::int64_t at) const;
  void annotations(EventText& text) const;
  void names(EventText& text) const;
  std::int64_t device_of(std::uint32_t context) const;

  const Recording& recording_;
  DeviceCalls calls_;
  std::map<std::uint32_t, Device> devices_;
  std::map<std::uint32_t, std::uint32_t> contexts_;          // device of each context
  std::set<std::pair<std::int64_t, std::int64_t>> streams_;  // (device, stream); stream -1: the whole device
  std::set<std::pair<std::int64_t, std::int64_t>> work_streams_;  // (device, stream) on which work ran
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, EventRecord>>
      event_records_;                // by (context, event), then by correlation
  std::uint64_t unknown_nodes_ = 0;  // work of graph nodes whose making was not recorded
  std::vector<HostRange> ranges_;
  std::vector<std::string> range_names_;
  std::unordered_map<std::int64_t, std::string> makers_;  // names of the ops that made nodes of graphs, by id
  std::map<std::tuple<std::int64_t, std::uint32_t, std::uint32_t>, Span>
      spans_;  // annotation, device, stream
};

}  // namespace stepscope::record
