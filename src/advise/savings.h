// What findings save, by replay where the recording allows it, and what they save together.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "advise/evidence.h"
#include "advise/finding.h"
#include "analyze/replay/replayed_rank.h"

namespace stepscope::advise {

/// Savings of all findings that limit now, made together; absent when there are fewer than two with a range.
struct Together {
  std::int64_t low = report::kNoInt, high = report::kNoInt;  ///< ns per step
};

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

/// Gives each finding of a rank the range of its saving alone and after those above it, sorts them (what
/// limits now first, then by expected saving) and marks what is too small to be shown.
///
/// Alone: the replay without changes minus the one with the finding's change, per step. Where recording
/// itself slowed the host visibly, the same of two replays whose host is as much faster, and the range spans
/// both. Where the recording
/// cannot be replayed the rule's own estimate stays, and the confidence says so. An estimate does not exceed
/// the replay without what it is a part of (`Finding::removed`), and no saving the step minus the device's
/// compute time, unless it shortens that. Together: one replay with all changes, and of
/// estimates what the replay leaves of late idle time; never more than the sum.
Together price(std::vector<Finding>& findings, const Evidence& evidence,
               const analyze::ReplayedRank& replayed, unsigned threads);

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

/// What limits now first, then what is next, what the others cover, facts, what is too small; of each the
/// larger expected saving, then the smaller effort.
bool ranks_before(const Finding& a, const Finding& b);

}  // namespace stepscope::advise
