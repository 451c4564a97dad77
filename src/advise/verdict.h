// The answer to "why is my step slow": one sentence, ranked findings, and what the recording cannot prove.
#pragma once

#include "advise/bound.h"
#include "advise/evidence.h"
#include "advise/health.h"
#include "advise/savings.h"
#include "analyze/derived.h"
#include "report/params.h"
#include "report/table.h"

namespace stepscope::advise {

/// Runs the analyses that the rules read, side by side on up to `threads` threads (0: all).
Reports gather(const analyze::Derived& derived, const report::Params& params, unsigned threads = 0);

/// The same question, its answers whole.
report::Params uncut(report::Params params);

/// What is said of one rank.
struct Judged {
  std::vector<Health> health;
  Bound bound;
  std::vector<Finding> findings;  ///< in no order, those too small to be shown included
  Together together;
};
Judged judge(const analyze::Derived& derived, const Evidence& evidence, const trace::Rank& rank,
             unsigned threads = 0);

/// The same, ready to stand beside what is said of other ranks.
struct RankVerdict {
  std::int64_t rank = -1;
  Bound bound{};
  std::string outcome, headline;
  std::int64_t step = report::kNoInt, steps = 0;
  std::int64_t saved_from = report::kNoInt;  ///< the step that savings are taken off, ns
  Together together;
  std::vector<Finding> findings;
  std::vector<Health> health;
};
/// `all`: with findings that are too small to be shown.
RankVerdict verdict_of(const analyze::Derived& derived, const Reports& reports, const trace::Rank& rank,
                       unsigned threads = 0, bool all = false);

/// Tables "Verdict" (one row per rank), "Findings" (ranked: largest expected saving first) and "Health".
report::Report verdict(std::vector<RankVerdict> ranks, bool several, std::vector<std::string> notes);
/// Of all ranks of a trace.
report::Report verdict(const analyze::Derived& derived, const Reports& reports, unsigned threads = 0,
                       bool all = false);

}  // namespace stepscope::advise
