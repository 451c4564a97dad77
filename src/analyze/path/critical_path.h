// The critical path of each rank, for its report and its drawing.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyze/drawing.h"
#include "analyze/path/path.h"
#include "report/params.h"
#include "report/table.h"

namespace stepscope::analyze {

struct RankPath {
  const path::Table* rows;  ///< outlives this
  path::PathGraph graph;
};

/// One path per table, over the range that the params "annotation" and "instance" choose. Appends a note if
/// there is no such range.
std::vector<RankPath> critical_paths(const trace::Trace& trace, std::span<const path::Table> tables,
                                     const path::Rules& rules, const report::Params& params,
                                     std::vector<std::string>& notes);
report::Report critical_path_report(const trace::Trace& trace, std::span<const path::Table> tables,
                                    const path::Rules& rules, const report::Params& params);
/// Draws the path as draw_critical_path() does. `table`: of the sketch's rank.
void draw_path_of(const trace::Trace& trace, const path::Table& table, const path::Rules& rules,
                  const report::Params& params, Sketch& sketch);

}  // namespace stepscope::analyze
