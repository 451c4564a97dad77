// Every analysis that front ends list: those of the trace, and those of the advice before them.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/analyses.h"
#include "report/verdict.h"

namespace stepscope::advise {

std::span<const analyze::Analysis> all_analyses();
/// Those of one topic, in the order of the list.
std::vector<const analyze::Analysis*> analyses_of(analyze::Topic topic);
/// nullptr if there is none of that name.
const analyze::Analysis* find_analysis(std::string_view name);

/// An answer; `verdict` is what its tables print where they are of findings.
struct Answer {
  report::Report report;
  std::optional<report::Verdict> verdict;
};
/// Runs and finishes.
Answer answer(const analyze::Analysis& analysis, const analyze::Derived& derived,
              const report::Params& params);
/// The answer of "findings", finished.
Answer findings_of(report::Verdict verdict, const analyze::Analysis& findings, const trace::Trace& trace,
                   const report::Params& params);
/// Whether it is "findings", in our own numbers.
bool asks_findings(const analyze::Analysis& analysis, const report::Params& params);

}  // namespace stepscope::advise
