// Operator calls grouped by name, shape or stack, with their device time and work.
#pragma once

#include <string_view>
#include <vector>

#include "analyze/question.h"
#include "derive/roof/op_work.h"
#include "trace/trace.h"

namespace stepscope::analyze {

enum class OpGrouping : std::uint8_t { name, shape, stack };

struct OperatorQuestion {
  OpGrouping grouping = OpGrouping::name;
  derive::Convention convention = derive::Convention::exact;  ///< how FLOPs are counted
  std::string_view device_name = "";  ///< device whose peaks apply; "" for the recorded device
};

/// Calls with the same name and, depending on `grouping`, the same shape or stack. Times in ns.
struct OpGroup {
  trace::StringId name = 0, detail = 0;
  std::int64_t calls = 0, host_total = 0, host_self = 0, device_total = 0, device_self = 0;
  std::int64_t matrix_time = 0;  ///< device time of its own kernels that use matrix units
  bool eligible = false, counted_above = false;
  // Work of the calls that claim it, and the measured time of these calls.
  std::int64_t claims = 0, unknown_claims = 0, work_time = 0, roof_measured = 0;
  double matrix_flops = 0, vector_flops = 0, bytes = 0, roof_time = 0;
  double timed_flops = 0, flop_time = 0, timed_bytes = 0, byte_time = 0;  ///< of calls with a measured time
  bool flops_known = false, bytes_known = false;
  double time_by_bound[7] = {};
};

/// Groups of one rank.
struct OpGroups {
  std::vector<OpGroup> groups;  ///< in the order of their first calls
  bool has_device = false;      ///< if false, the host time of an op is the time of its work
};
OpGroups op_groups(const trace::Trace& trace, const trace::Rank& rank, const StepChoice& choice,
                   const OperatorQuestion& question);

}  // namespace stepscope::analyze
