// What each operator costs on the host and the device, how much work it does, and how close that is to the
// device's roof.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyze/derived.h"
#include "analyze/host/op_groups.h"
#include "derive/roof/roof.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// Whether matrix units can do an operator's work; unknown if the work of none of its calls is known.
enum class Eligible : std::uint8_t { unknown, yes, no };
std::string_view name_of(Eligible eligible);

/// Where the work of an operator's calls is counted.
enum class WorkCounted : std::uint8_t { unknown, here, partly, above };
std::string_view name_of(WorkCounted counted);

/// One operator, or one of its input shapes or call stacks. Times in ns; `name` and `detail` are texts of the
/// trace. Unknown values are report::kNoInt or kNoReal.
struct Operator {
  std::int64_t rank = -1;
  std::string_view name, detail;
  std::int64_t calls = 0, host_self = 0, host_total = 0;
  std::int64_t device_self = report::kNoInt, device_total = report::kNoInt;
  Eligible eligible = Eligible::unknown;
  double matrix_share = report::kNoReal;  ///< device time of kernels on matrix units / device_self
  double matrix_flops = report::kNoReal, flops = report::kNoReal, bytes = report::kNoReal;
  std::int64_t work_time = report::kNoInt;                          ///< time of the calls whose work is known
  double flop_rate = report::kNoReal, byte_rate = report::kNoReal;  ///< per second
  double intensity = report::kNoReal;                               ///< flops / bytes
  derive::Bound bound = derive::Bound::unknown;  ///< the bound with the largest part of `work_time`
  double share_of_roof = report::kNoReal;        ///< time that the roof allows / measured time
  WorkCounted work = WorkCounted::unknown;
};

struct Operators {
  std::vector<Operator> operators;  ///< per rank, most device time first, then most host time
  std::vector<std::string> notes;
};
Operators operators_of(const Derived& derived, const OperatorQuestion& question = {});

}  // namespace stepscope::analyze
