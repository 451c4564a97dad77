// Quantities that savings of a rank are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "advise/evidence.h"
#include "analyze/replay/replayed_rank.h"

namespace stepscope::advise {

/// The first recorded step where it took much longer than the others, as while the recording starts or memory
/// is first allocated: later steps of the job are like the others.
struct SlowFirstStep {
  std::int64_t length = 0, median = 0;  ///< its own and that of all steps, ns
};
std::optional<SlowFirstStep> slow_first_step(const Evidence& evidence, const analyze::ReplayedRank& replayed);

/// ns per step that a change saves by replay, negative where it costs; `without_first`: of the steps behind
/// the first, as where that one is slow.
std::int64_t saved_per_step(const analyze::ReplayedRank& replayed, const analyze::Change& change,
                            bool without_first);

/// The host's pace without what recording cost it, 1 where that does not show: its time then / as recorded.
double unrecorded_pace(const Evidence& evidence);

/// "the host limits at 16.2 ms": what limits a step of `length` ns once a change is made, "" where that is
/// not the host.
std::string limit_behind(const analyze::ReplayedRank& replayed, const analyze::Change& change,
                         std::int64_t length, bool without_first);

/// Whether savings of the rank are differences of replays.
bool replayable(const analyze::ReplayedRank& replayed);
/// ns per step: more than the step without its compute time is saved by nothing that leaves kernels as they
/// are.
std::int64_t most_saving(const Evidence& evidence);
/// By how much the mean step of two recordings of the same program differs, nearly always: kTwoRecordings ×
/// the standard error of a step's length.
std::int64_t step_uncertainty(const Evidence& evidence, bool device);
/// `share` of a time.
std::int64_t part(std::int64_t time, double share);
/// ns per step: findings that save less are not shown, of a step and a share of it; the same of the recorded
/// one.
std::int64_t least_saving(std::int64_t step, double share);
std::int64_t least_saving(const Evidence& evidence);

}  // namespace stepscope::advise
