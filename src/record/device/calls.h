// The calls of a recording that started device work, and the conversion of device times to Unix time.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "record/device/format.h"
#include "record/device/links.h"
#include "record/recording.h"

namespace stepscope::record {

class DeviceCalls {
 public:
  /// Scans the recording, which must outlive this object.
  explicit DeviceCalls(const Recording& recording);

  bool any() const { return has_calls_; }
  /// 0: no device was recorded.
  std::uint32_t library_version() const { return library_version_; }
  bool has_devices() const { return !segments_.empty(); }
  /// The segment belongs to the collector's thread that writes device records, not to a thread of the
  /// program.
  bool wrote(const Segment& segment) const { return segments_.contains(segment.records.data()); }
  /// ns since 1970 of a time in a device record.
  std::int64_t ns(std::int64_t device_ns) const;

  /// Only ops that begin and end on one thread can contain calls.
  bool stands_in(const Op& op) const { return has_calls_ && (op.flags & (kAsync | kOtherThread)) == 0; }
  void join(std::vector<HostRange>& ranges) { links_.join(ranges); }
  LaunchCall* of(std::uint32_t correlation, std::int64_t begin_ns) {
    return correlation == 0 ? nullptr : links_.find(correlation, begin_ns);
  }
  bool makes_nodes(const HostRange& range) const { return links_.makes_nodes(range); }
  /// Whether it was recorded how the node was made.
  bool knows(std::uint64_t node) const { return links_.made(node) != nullptr; }
  std::int64_t maker_of(std::uint64_t node) const { return links_.maker_of(node); }
  const std::vector<HostRange>& annotations() const { return links_.annotations(); }

 private:
  void look_at(const Segment& segment);
  void add(const ApiCall& call);

  const Recording& recording_;
  bool has_calls_ = false;
  DeviceClock clock_ = DeviceClock::monotonic;
  Times library_times_;
  std::uint32_t library_version_ = 0;
  std::set<const char*> segments_;  // by the address of their records
  DeviceLinks links_;
};

}  // namespace stepscope::record
