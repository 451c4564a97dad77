// Any analysis of two recordings, compared.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyze/analyses.h"
#include "compare/counted_steps.h"
#include "compare/diff.h"
#include "compare/table_difference.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::compare {

/// The answers of some analyses for single steps of a recording.
struct AnswersPerStep {
  /// By analysis in the order asked, then by table.
  std::vector<std::vector<TableSamples>> tables;
  std::size_t steps = 0;
};

/// Runs the analyses on at most 12 of the counted steps, evenly spaced, each alone; without step marks, on
/// the whole recording.
AnswersPerStep answers_per_step(const trace::Trace& trace, const CountedSteps& counted,
                                const std::vector<const analyze::Analysis*>& asked, unsigned threads);

/// Analyses that can be compared: those of the full report that do not need an id.
std::vector<const analyze::Analysis*> comparable_analyses();

/// One report per analysis that has tables to compare.
std::vector<report::Report> analysis_differences(const trace::Trace& a, const trace::Trace& b,
                                                 const Pair& recordings,
                                                 const std::vector<const analyze::Analysis*>& asked,
                                                 unsigned threads);

}  // namespace stepscope::compare
