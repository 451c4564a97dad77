// Device events as the breakdowns of many ranks look at them: what each is, and when it was launched. By
// default from the engine's own rows and classes; with --hta-compat from HTA's table.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/derived.h"
#include "analyze/hta/names.h"
#include "timeline/interval.h"

namespace stepscope::analyze {

struct DeviceSpan {
  timeline::Time start = 0, end = 0;
  timeline::Time launched = trace::kNoTime, call_end = trace::kNoTime;  ///< of the call that launched it
  std::int64_t stream = -1, correlation = -1;
  trace::Row row = trace::kNoRow;
  trace::Row call = trace::kNoRow;  ///< that launched it
  KernelType type = KernelType::other;
  bool works = true;  ///< false: a wait that was recorded on the stream; only HTA's table has these
};

/// Of one device of one rank; with --hta-compat of all devices of the rank.
struct DeviceSpans {
  const trace::Rank* rank = nullptr;
  std::int64_t device = report::kNoInt;  ///< kNoInt with --hta-compat
  timeline::Time origin = 0;             ///< start of the rank's first event
  timeline::Time zero = 0;               ///< what its times lack to those of the file
  timeline::Time duration = 0;           ///< from there to the start of its last one
  std::vector<DeviceSpan> spans;         ///< by the place in the file with --hta-compat, else by start
};

/// The option of analyses that can give HTA's numbers.
inline constexpr report::ParamSpec kHtaCompat = {"hta-compat", report::ParamSpec::Type::flag, "", "",
                                                 "Holistic Trace Analysis' own numbers: whole microseconds, "
                                                 "classes by its name patterns, its defects included"};
/// Of the tables HTA makes: keeps the last step, which HTA drops by default.
inline constexpr report::ParamSpec kHtaLastStep = {"hta-last-step", report::ParamSpec::Type::flag, "", "",
                                                   "with --hta-compat: keep the last step, which HTA drops"};

inline constexpr const char* kNoLaunchNote =
    "No device work has a recorded call that launched it: record ProfilerActivity.CPU and the device's "
    "together, and "
    "more than one step.";

std::vector<DeviceSpans> device_spans(const Derived& derived, const report::Params& params);

KernelType type_of(trace::Work work);

/// Of the spans of one type, or of all.
timeline::IntervalSet covered(const DeviceSpans& of, KernelType type);
timeline::IntervalSet covered(const DeviceSpans& of);
/// Length of what they cover. HTA's events of -1 µs, which overlap no other, shorten the sum.
timeline::Time covered_length(const DeviceSpans& of);
timeline::Time covered_length(const DeviceSpans& of, KernelType type);

/// Key columns of a row per device: "rank" where there are several, "device" but with --hta-compat.
class DeviceColumns {
 public:
  DeviceColumns(report::Table& table, const trace::Trace& trace, const report::Params& params);
  void add(const DeviceSpans& of);

 private:
  RankColumn rank_;
  report::Ints* device_;
};

}  // namespace stepscope::analyze
