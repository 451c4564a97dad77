// Host time of operators in a program without a device.
#pragma once

#include <string_view>
#include <vector>

#include "analyze/derived.h"
#include "derive/work/dtype.h"
#include "report/sheet.h"

namespace stepscope::analyze {

enum class OpKind : std::uint8_t { element_wise, other, product };
std::string_view name_of(OpKind kind);

/// Calls of a rank's operators that compute, of one kind and type. Times in ns.
struct HostWork {
  std::int64_t rank;
  OpKind kind;
  derive::DType dtype;
  std::int64_t calls, time;
  std::int64_t chained;  ///< of `time`, saved if each run of element-wise operators became one operator
};
extern const report::Sheet<HostWork> kWorkSheet;

/// Adds a rank's rows, most time first.
void add_host_work(std::vector<HostWork>& work, const Derived& derived, const trace::Rank& rank);

}  // namespace stepscope::analyze
