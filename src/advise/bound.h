// Who waits for whom: the word that decides which savings are real.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "advise/evidence.h"
#include "advise/health.h"
#include "report/verdict.h"

namespace stepscope::advise {

using report::Bound;
using report::Outcome;

/// What shows it.
report::Proof evidence_of(Bound bound);

/// The word of `ledger`, unless the recording cannot carry it.
Bound bound_of(const Evidence& evidence, const Permission& permission);

/// The idle cause with the most time besides `pending`, if any.
std::optional<IdleCause> largest_cause(const Evidence& evidence);

/// `found`: whether there is any finding; `worth`: whether one of them is worth that.
Outcome outcome_of(const Evidence& evidence, Bound bound, bool found, bool worth);

/// What to add to the headline: that nothing is wrong, or that no change is known; and the largest remaining
/// share.
std::string closing(const Evidence& evidence, Outcome outcome);

/// One sentence that a person can act on. `host`: what the host needs, ns per step, where that is nearly as
/// much as the device takes.
std::string headline(const Evidence& evidence, Bound bound, const std::vector<Health>& health,
                     std::int64_t host = 0);

}  // namespace stepscope::advise
