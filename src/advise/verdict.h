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

/// What is said of one rank.
struct Judged {
  std::vector<Health> health;
  Bound bound;
  std::vector<Finding> findings;  ///< in no order, those too small to be shown included
  Together together;
};
Judged judge(const analyze::Derived& derived, const Evidence& evidence, const trace::Rank& rank,
             unsigned threads = 0);

/// Tables "Verdict" (one row per rank), "Findings" (ranked: largest expected saving first) and "Health".
/// `all`: with findings that are too small to be shown.
report::Report verdict(const analyze::Derived& derived, const Reports& reports, unsigned threads = 0,
                       bool all = false);

}  // namespace stepscope::advise
