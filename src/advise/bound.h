// What limits a step, i.e. who waits for whom: this decides which savings are real.
#pragma once

#include <string>
#include <string_view>

#include "advise/evidence.h"
#include "advise/health.h"
#include "report/verdict.h"

namespace stepscope::advise {

using report::Bound;
using report::Outcome;

/// The analysis that shows this bound.
report::Proof evidence_of(Bound bound);

/// The limit that `ledger` found, or the reason why the recording cannot prove one.
Bound bound_of(const Evidence& evidence, const Permission& permission);

/// `found`: at least one finding is shown; `worth`: one of them saves enough for Outcome::findings.
Outcome outcome_of(const Evidence& evidence, Bound bound, bool found, bool worth);

/// Added to the headline: that nothing is wrong, or that no change is known, and the largest share beside
/// compute.
std::string closing(const Evidence& evidence, Outcome outcome);

/// One sentence that a person can act on. `host`: ns per step that the host needs, if it is nearly as much as
/// the device takes; else 0.
std::string headline(const Evidence& evidence, Bound bound, const std::vector<Health>& health,
                     std::int64_t host = 0);

}  // namespace stepscope::advise
