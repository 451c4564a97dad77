// The calls of a recording that started work of devices, and the clock on which devices tell their times.
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
  /// Looks through the recording, which outlives it.
  explicit DeviceCalls(const Recording& recording);

  bool any() const { return has_calls_; }
  /// 0: nothing of devices was recorded.
  std::uint32_t library_version() const { return library_version_; }
  bool has_devices() const { return !segments_.empty(); }
  /// The segment is of the thread that reads what devices tell, which does no work of the program.
  bool wrote(const Segment& segment) const { return segments_.contains(segment.records.data()); }
  /// Since 1970, of a time that a device told.
  std::int64_t ns(std::int64_t device_ns) const;

  /// Calls may stand in ops that begin and end on one thread.
  bool stands_in(const Op& op) const { return has_calls_ && (op.flags & (kAsync | kOtherThread)) == 0; }
  void join(std::vector<HostRange>& ranges) { links_.join(ranges); }
  LaunchCall* of(std::uint32_t correlation, std::int64_t begin_ns) {
    return correlation == 0 ? nullptr : links_.find(correlation, begin_ns);
  }
  const std::vector<HostRange>& annotations() const { return links_.annotations(); }

 private:
  void look_at(const Segment& segment);
  void add(const ApiCall& call);

  const Recording& recording_;
  bool has_calls_ = false;
  DeviceClock clock_ = DeviceClock::monotonic;
  Times library_times_;
  std::uint32_t library_version_ = 0;
  std::set<const char*> segments_;  // their records
  DeviceLinks links_;
};

}  // namespace stepscope::record
