// What `stepscope diff` answers, for every front end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyze/analyses.h"
#include "base/result.h"
#include "compare/diff.h"
#include "report/page.h"
#include "report/params.h"

namespace stepscope::compare {

inline constexpr report::ParamSpec kWhat = {"what", report::ParamSpec::Type::text, "", "",
                                            "compare this analysis instead"};
inline constexpr report::ParamSpec kSkip = {
    "skip", report::ParamSpec::Type::integer, "", "",
    "leave out the first N steps of each recording (default: the warm-up that is found)"};

/// The error is a sentence.
Result<const analyze::Analysis*> comparable_named(std::string_view name);

/// The change of the step, then that of each analysis.
report::Page page_of(const trace::Trace& a, const trace::Trace& b, const Pair& pair,
                     const StepDifference& difference, unsigned threads);

/// The change of one analysis. `params`: top.
report::Report report_of(const trace::Trace& a, const trace::Trace& b, const Pair& pair,
                         const analyze::Analysis& asked, const report::Params& params, unsigned threads);

}  // namespace stepscope::compare
