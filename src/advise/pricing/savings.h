// Quantities from which the savings of a rank are computed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "advise/evidence.h"
#include "analyze/replay/replayed_rank.h"

namespace stepscope::advise {

/// The first recorded step, if it took much longer than the others, e.g. because the recording starts or
/// memory is first allocated. Later steps of the job are like the others.
struct SlowFirstStep {
  std::int64_t length = 0, median = 0;  ///< ns; `median`: of all steps
};
std::optional<SlowFirstStep> slow_first_step(const Evidence& evidence, const analyze::ReplayedRank& replayed);

/// ns per step that a change saves by replay, negative if it costs time. `without_first`: over the steps
/// after the first, if that one is slow.
std::int64_t saved_per_step(const analyze::ReplayedRank& replayed, const analyze::Change& change,
                            bool without_first);

/// Host time without the cost of recording / host time as recorded; 1 if that cost is too small to show.
double unrecorded_pace(const Evidence& evidence);

/// "the host keeps the step at 16.2 ms" if the host limits a step of `length` ns after the change, else
/// "".
std::string limit_behind(const analyze::ReplayedRank& replayed, const analyze::Change& change,
                         std::int64_t length, bool without_first);

/// Whether savings of the rank are differences of replays.
bool replayable(const analyze::ReplayedRank& replayed);
/// ns per step: the step less its compute time, the max saving of a change that leaves kernels as they are.
std::int64_t most_saving(const Evidence& evidence);
/// By how much the mean steps of two recordings of one program differ, in 95 % of cases: kTwoRecordings × the
/// standard error of the mean step.
std::int64_t step_uncertainty(const Evidence& evidence, bool device);
/// `share` of a time.
std::int64_t part(std::int64_t time, double share);
/// ns per step: findings that save less are not shown. The max of kMinSaving and `share` of `step`; the
/// second is for the recorded step and kMinShare.
std::int64_t least_saving(std::int64_t step, double share);
std::int64_t least_saving(const Evidence& evidence);

}  // namespace stepscope::advise
