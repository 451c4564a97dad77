// Which op of a nest claims its work, how much work that is, and where it ran. FLOPs and bytes are counted
// once.
#pragma once

#include <vector>

#include "derive/work/work.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// One call that claims work.
struct Claim {
  trace::Row row = trace::kNoRow;
  std::uint32_t work = 0;         ///< index into OpWork::works
  std::int64_t kernels = 0;       ///< device events below it
  std::int64_t largest_grid = 0;  ///< blocks of its largest kernel, 0 when not recorded
  trace::StringId longest_kernel = trace::kEmptyString;
  std::int64_t longest = 0;  ///< ns: duration of longest_kernel
  std::int64_t device = -1;  ///< device of its last event
};

struct OpWork {
  std::vector<std::uint32_t> claim_of;  ///< by row: index of the claim that counts the row's work, else kNone
  std::vector<Claim> claims;
  std::vector<Work> works;  ///< one per distinct name and recorded arguments
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
};

/// Claims are made from the roots down. The first canonical op with usable arguments claims its whole
/// subtree. A composite op claims only if nothing below it claims and device work runs below it (or the
/// recording has no device work).
OpWork op_work(const trace::Trace& trace, const trace::Rank& rank, Convention convention);

}  // namespace stepscope::derive
