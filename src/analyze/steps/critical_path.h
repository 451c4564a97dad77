// The critical path of each rank, for those who tell of it and those who draw it.
#pragma once

#include <string>
#include <vector>

#include "analyze/hta/critical_path.h"
#include "report/params.h"

namespace stepscope::analyze {

struct RankPath {
  hta::Table rows;
  hta::PathGraph graph;
};

/// Of `only`, or of all ranks, as the params "annotation", "instance", "hta-compat" and "hta-last-step" say.
/// Appends sentences where there is no such range.
std::vector<RankPath> critical_paths(const trace::Trace& trace, const report::Params& params,
                                     std::vector<std::string>& notes, const trace::Rank* only = nullptr);

}  // namespace stepscope::analyze
