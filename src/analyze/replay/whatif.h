// How long a step would take if something in it were faster: the recording replayed with changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/derived.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// A rank replayed without changes; times in ns per step.
struct RankCheck {
  std::int64_t rank, steps, recorded, identity;
  double error;  ///< |identity - recorded| / recorded
};

/// A rank replayed with one change; times in ns per step, kNoInt if it cannot be replayed.
struct RankChange {
  std::int64_t rank;
  std::string change;
  std::int64_t step, saving;
  double share;  ///< saving / step without changes
  bool found;    ///< whether the rank has anything of that kind
};

/// The job replayed without changes; times in ns per step.
struct JobCheck {
  std::int64_t recorded, identity;
  double error;
  std::int64_t alone;  ///< collectives that were replayed alone
};

/// The job with one change; numbers as in ReplayedJob::Prediction.
struct JobChange {
  std::string change;
  std::int64_t step, low, high, saving;
  double share;  ///< saving / step without changes
  std::string limit;
  double limit_share;  ///< low / step
};

/// Ranks that were replayed together.
struct WhatIfJob {
  JobCheck check;
  std::vector<JobChange> changes;
};

struct WhatIf {
  std::vector<RankCheck> checks;
  std::vector<RankChange> changes;  ///< by rank, all that were asked for
  std::optional<WhatIfJob> job;     ///< nullopt: ranks were replayed alone
  std::vector<std::string> notes;
};
WhatIf whatif_of(const Derived& derived, const report::Params& params);
report::Report printed(const WhatIf& of, bool several_ranks);

}  // namespace stepscope::analyze
