// Every analysis that front ends list: `findings` first, then those of `analyze`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/analyses.h"
#include "report/verdict.h"

namespace stepscope::advise {

std::span<const analyze::Analysis> all_analyses();
/// The analyses of one topic, in the order of all_analyses().
std::vector<const analyze::Analysis*> analyses_of(analyze::Topic topic);
/// nullptr if no analysis has that name.
const analyze::Analysis* find_analysis(std::string_view name);

/// An answer. `verdict`: only of "findings", whose table prints it.
struct Answer {
  report::Report report;
  std::optional<report::Verdict> verdict;
};
/// Runs the analysis and finishes its report.
Answer answer(const analyze::Analysis& analysis, const analyze::Derived& derived,
              const report::Params& params);
/// The same with rows of one rank only, where rows name their rank. The answer is computed for all ranks.
Answer answer_of_rank(const analyze::Analysis& analysis, const analyze::Derived& derived,
                      const report::Params& params, std::int64_t rank);
/// The params without those that cut or sort an answer: for keep_rank(), which does that.
report::Params uncut(const report::Params& params);
/// Of a finished report with uncut() params, the rows of one rank, finished with `params`.
void keep_rank(report::Report& report, std::int64_t rank, const analyze::Analysis& analysis,
               const trace::Trace& trace, const report::Params& params);
/// Of a verdict, what is about one rank or about all together.
void keep_rank(report::Verdict& verdict, std::int64_t rank);
/// The finished answer of "findings".
Answer findings_of(report::Verdict verdict, const analyze::Analysis& findings, const trace::Trace& trace,
                   const report::Params& params);
/// Whether `analysis` is "findings" and `params` do not ask for another tool's form of it.
bool asks_findings(const analyze::Analysis& analysis, const report::Params& params);

}  // namespace stepscope::advise
