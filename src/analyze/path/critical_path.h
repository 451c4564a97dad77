// The critical path of each rank, for those who tell of it and those who draw it.
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

/// Of each table, as the params "annotation" and "instance" say. Appends sentences where there is no such
/// range.
std::vector<RankPath> critical_paths(const trace::Trace& trace, std::span<const path::Table> tables,
                                     const path::Rules& rules, const report::Params& params,
                                     std::vector<std::string>& notes);
report::Report critical_path_report(const trace::Trace& trace, std::span<const path::Table> tables,
                                    const path::Rules& rules, const report::Params& params);
/// As draw_critical_path() does; `table`: of the sketch's rank.
void draw_path_of(const trace::Trace& trace, const path::Table& table, const path::Rules& rules,
                  const report::Params& params, Sketch& sketch);

}  // namespace stepscope::analyze
