// The part of `whatif` about several ranks.
#pragma once

#include <string>
#include <vector>

#include "analyze/replay/replayed_job.h"
#include "analyze/replay/whatif.h"

namespace stepscope::analyze {

/// Scales that are applied together.
struct Asked {
  std::string name;
  std::vector<Scale> scales;
};

/// By rank: the length of its window with the changes, ns, and whether the rank has anything that they
/// change.
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

/// Notes why several ranks were replayed alone, or which of their collectives were.
void note_ranks(const trace::Trace& trace, const ReplayedJob& job, bool together,
                std::vector<std::string>& notes);

}  // namespace stepscope::analyze
