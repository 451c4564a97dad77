// What operators of a program without a device take of its main thread.
#pragma once

#include <string_view>
#include <vector>

#include "analyze/derived.h"
#include "derive/work/dtype.h"
#include "report/sheet.h"

namespace stepscope::analyze {

enum class OpKind : std::uint8_t { element_wise, other, product };
std::string_view name_of(OpKind kind);

/// A rank's operators that compute, of one kind and type. Times in ns.
struct HostWork {
  std::int64_t rank;
  OpKind kind;
  derive::DType dtype;
  std::int64_t calls, time;
  std::int64_t chained;  ///< of `time`, what goes when runs of element-wise ones become one operator each
};
extern const report::Sheet<HostWork> kWorkSheet;

/// Adds a rank's, most time first.
void add_host_work(std::vector<HostWork>& work, const Derived& derived, const trace::Rank& rank);

}  // namespace stepscope::analyze
