// Which op of a nest claims its work, how much work that is, and what it ran on: FLOPs and bytes are counted
// once.
#pragma once

#include <vector>

#include "derive/work/work.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// The work of one call that claims.
struct Claim {
  trace::Row row = trace::kNoRow;
  std::uint32_t work = 0;         ///< index into OpWork::works
  std::int64_t kernels = 0;       ///< device events below it
  std::int64_t largest_grid = 0;  ///< blocks of its largest kernel, 0 when not recorded
  trace::StringId longest_kernel = trace::kEmptyString;
  std::int64_t longest = 0;  ///< ns, of that kernel
  std::int64_t device = -1;  ///< device of its first event
};

struct OpWork {
  std::vector<std::uint32_t>
      claim_of;  ///< by row: index into claims of the call that counts the row's work, kNone else
  std::vector<Claim> claims;
  std::vector<Work> works;  ///< one per distinct name and recorded arguments
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
};

/// Claims go from the roots down: the first canonical op with usable arguments takes its whole subtree; a
/// composite op claims only when nothing below it does and something runs on a device below it (or nothing is
/// recorded of devices).
OpWork op_work(const trace::Trace& trace, const trace::Rank& rank, Convention convention);

}  // namespace stepscope::derive
