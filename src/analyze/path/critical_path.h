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

/// A stretch of a path, one of its edges. Times in ns since the rank's first event.
struct PathStretch {
  std::int64_t rank;
  timeline::Time start;
  timeline::Time time;  ///< less than to its end where the event waits
  path::EdgeType type;
  std::string_view bound_by;  ///< "" for waits, which take no time of their own
  std::string_view name;      ///< of the event whose time it is
  std::int64_t event;         ///< its id or report::kNoInt
  trace::Row row;             ///< the event that it lies in; kNoRow: it lies between two events
  timeline::Time end;
};

/// Time of a path with one bound.
struct PathBound {
  std::int64_t rank;
  std::string_view bound_by;
  timeline::Time time;
  double share;  ///< of the path
};

/// A few words for people.
std::string_view meaning_of_bound(std::string_view bound_by);

struct StepPath {
  std::vector<PathStretch> stretches;  ///< in order
  std::vector<PathBound> bounds;
  timeline::Time time = 0;  ///< of all stretches
  std::vector<std::string> notes;
};
/// What the analysis answers about one rank for the range that marks `step`. For a step without a mark, and
/// for nullptr: for the whole recording, with a note.
StepPath path_of_step(const trace::Trace& trace, const trace::Rank& rank, const trace::Step* step);

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
