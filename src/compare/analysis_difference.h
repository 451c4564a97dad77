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

/// What some analyses say of single steps of a recording.
struct AnswersPerStep {
  /// By analysis, then by table title, in the order asked.
  std::vector<std::vector<TableSamples>> tables;
  std::size_t steps = 0;
};

/// At most a dozen of the counted steps are asked, evenly apart, each alone; without step marks the whole.
AnswersPerStep answers_per_step(const trace::Trace& trace, const CountedSteps& counted,
                                const std::vector<const analyze::Analysis*>& asked, unsigned threads);

/// Analyses that can be compared: those with rows that another recording has too.
std::vector<const analyze::Analysis*> comparable_analyses();

/// One report per analysis asked, of the tables that can be compared.
std::vector<report::Report> analysis_differences(const trace::Trace& a, const trace::Trace& b,
                                                 const Pair& recordings,
                                                 const std::vector<const analyze::Analysis*>& asked,
                                                 unsigned threads);

}  // namespace stepscope::compare
