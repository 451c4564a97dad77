// What `whatif` says of several ranks.
#pragma once

#include <string>
#include <vector>

#include "analyze/replay/replayed_job.h"
#include "analyze/replay/whatif.h"

namespace stepscope::analyze {

/// What is asked at once.
struct Asked {
  std::string name;
  std::vector<Scale> scales;
};

/// Of each rank, its window with the changes, ns, and whether they speak of anything it has.
struct Answered {
  std::vector<std::int64_t> lengths;
  std::vector<bool> found;
  derive::JointChanges changes;
  std::string refused;  ///< why nothing was changed
};

/// The job's step, recorded and with each change.
WhatIfJob whatif_job(const Derived& derived, const std::vector<Asked>& asked,
                     const std::vector<Answered>& answers);
void add_tables(std::vector<report::Table>& tables, const WhatIfJob& job);

/// Why several ranks were replayed alone, or what of them was.
void note_ranks(const trace::Trace& trace, const ReplayedJob& job, bool together,
                std::vector<std::string>& notes);

}  // namespace stepscope::analyze
