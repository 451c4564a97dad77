// Who waits for whom: the word that decides which savings are real.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "advise/evidence.h"
#include "advise/health.h"

namespace stepscope::advise {

enum class Bound : std::uint8_t {
  unknown,        ///< the recording cannot tell
  too_little,     ///< under 20 device events or 1 ms of device work: not a training or inference step
  host_only,      ///< no device activity recorded
  host,           ///< the device waits for the host
  communication,  ///< the device waits for other ranks or links
  device,         ///< the device is the limit
  mixed,          ///< none of these alone
};

std::string_view name_of(Bound bound);
/// The analysis that shows it, as findings name theirs.
std::string_view evidence_of(Bound bound);

/// The word of `ledger`, unless the recording cannot carry it.
Bound bound_of(const Evidence& evidence, const Permission& permission);

/// The idle cause with the most time besides `pending`, if any.
std::optional<IdleCause> largest_cause(const Evidence& evidence);

/// What the advice comes to.
enum class Outcome : std::uint8_t {
  findings,     ///< at least one is worth a hundredth of the step for certain, or three hundredths at best
  nothing,      ///< nothing is wrong: the device is busy with compute, and no rule fires
  no_fix,       ///< something limits, and no rule knows a change worth its while
  cannot_tell,  ///< the recording cannot carry a verdict
  no_step,      ///< not a training or inference step
};
std::string_view name_of(Outcome outcome);

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
