// The answer to "why is my step slow": one sentence, ranked findings, and what the recording cannot prove.
#pragma once

#include "advise/evidence.h"
#include "analyze/derived.h"
#include "report/params.h"
#include "report/table.h"

namespace stepscope::advise {

/// Runs the analyses that the rules read, side by side on up to `threads` threads (0: all).
Reports gather(const analyze::Derived& derived, const report::Params& params, unsigned threads = 0);

/// Tables "Verdict" (one row per rank), "Findings" (ranked: largest expected saving first) and "Health".
report::Report verdict(const analyze::Derived& derived, const Reports& reports, unsigned threads = 0);

}  // namespace stepscope::advise
