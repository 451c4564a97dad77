// What claims save, in three stages: a change alone, a change once those above it are made, all that limits
// now together. Each stage takes values and returns new ones. Times are ns per step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "advise/claim.h"
#include "advise/evidence.h"
#include "advise/pricing/savings.h"
#include "analyze/replay/replayed_rank.h"
#include "report/verdict.h"

namespace stepscope::advise {

using analyze::Change;
using report::Range;

/// What a change saves by replay: as recorded, and with a host without what recording cost it.
struct Saved {
  std::int64_t recorded = 0, unrecorded = 0;

  std::int64_t least() const { return std::min(recorded, unrecorded); }
  std::int64_t most() const { return std::max(recorded, unrecorded); }
  /// What is more than `before`.
  Saved above(const Saved& before) const {
    return {std::max<std::int64_t>(0, recorded - before.recorded),
            std::max<std::int64_t>(0, unrecorded - before.unrecorded)};
  }
};

/// What savings of a rank are measured against.
struct Basis {
  std::int64_t step = 0;   ///< mean length
  std::int64_t steps = 1;  ///< in the window, at least 1
  std::int64_t most = 0;   ///< that is saved where kernels stay as they are: a step without its compute time
  std::int64_t uncertainty = 0;  ///< by which the mean step of two recordings differs
  std::int64_t late = 0;         ///< idle because the host had not launched yet
  std::int64_t recording = 0;    ///< what recording added
  double pace = 1;               ///< of a host without what recording cost it: its time then / as recorded
  std::int64_t unrecorded = 0;   ///< the whole window with that host, where it is replayed
  bool without_first = false;    ///< the first step is left out, as it took much longer
  bool has_device = false;

  /// Less is not shown.
  std::int64_t least() const;
};
Basis basis_of(const Evidence& evidence, const analyze::ReplayedRank& replayed);

/// The rank re-timed with changes.
struct Replays {
  bool usable = false;   ///< whether savings are differences of replays
  double error = 0;      ///< of the replay without changes: its difference to the recorded length / that
  std::string unusable;  ///< why not: "12 % off without changes"
  std::function<Change(std::span<const analyze::Scale>)> change_of;
  std::function<Saved(const Change&)> saved;  ///< 0 of what is not found
  /// "then the host keeps the step at 16.2 ms": what limits once a change has saved so much; "" where that is
  /// not the host.
  std::function<std::string(const Change&, std::int64_t saved)> limit_behind;
};
/// Refers to the rank.
Replays replays_of(const analyze::ReplayedRank& replayed, const Basis& basis);

/// A claim's changes, and what they save alone.
struct Tried {
  Change ideal, mild;
  Saved saved, mildly_saved;
};
/// Empty for a claim that is not replayed.
std::vector<Tried> tried(const std::vector<Claim>& claims, const Replays& replays, unsigned threads);

/// A claim with the range of its saving alone.
struct Priced {
  Claim claim;             ///< without a change that the rank has nothing of
  bool by_replay = false;  ///< else the saving is the rule's estimate
  bool next = false;       ///< does not limit now
  Range saving;
  std::int64_t margin = 0;  ///< by which the range is wider as steps vary
  Range unshared;           ///< the range before others claimed part of the idle time it is about
  std::int64_t others = 0;  ///< what they claim
  Confidence confidence = Confidence::low;
  std::vector<std::string> reasons;  ///< behind the claim's own: what lowered it, where the saving comes from
  std::string aside;                 ///< what to know beside the saving
  bool unrecorded = false;           ///< the high end is of a host without what recording cost it
};

/// Alone: the replay without changes minus the one with the change. Where recording itself slowed the host
/// visibly, the range spans the same of two replays whose host is as much faster. Where the recording cannot
/// be replayed the estimate stays, and the confidence says so; it does not exceed the replay without what it
/// is a part of. No saving exceeds `Basis::most`, unless kernels become shorter.
Priced priced_alone(const Claim& claim, const Tried& tried, const Basis& basis, const Replays& replays);

struct Candidate {
  Priced priced;
  Tried tried;
};

/// Late idle time that changes of more specific host work would take away is theirs, not that of slow
/// launching as such; what is left must still be worth its rule's threshold, or the claim is dropped.
std::vector<Candidate> left_to_others(std::vector<Candidate> candidates, const Basis& basis,
                                      const Replays& replays);

/// By the place, then by the larger expected saving, then by the smaller effort.
bool stands_before(const Priced& a, int place_of_a, const Priced& b, int place_of_b);

/// The first stage: all of that, in the order of what limits now, then of the larger expected saving.
std::vector<Candidate> price_alone(std::vector<Claim> claims, const Basis& basis, const Replays& replays,
                                   unsigned threads);

/// A finding in its place.
struct Ranked : Priced {
  Range after;           ///< once those above are done; not known of estimates
  bool covered = false;  ///< saves alone, and nothing more, or most of it, once those that limit are done
  bool small = false;    ///< not worth showing
};
report::When when_of(const Ranked& finding);
/// What limits now first, then what is next, what the others cover, facts, what is too small; of each the
/// larger expected saving, then the smaller effort.
bool ranks_before(const Ranked& a, const Ranked& b);

struct Ranking {
  std::vector<Ranked> findings;
  Saved limiting;  ///< what the replayed ones save together, those that are next or covered aside
};
/// The second stage: differences of replays with more and more changes. What then adds nothing goes behind
/// what does, and so does what saves most only then.
Ranking price_after(std::vector<Candidate> candidates, const Basis& basis, const Replays& replays,
                    unsigned threads);

/// The third stage: what all that limit now save, made together: one replay with all changes, and of
/// estimates what it leaves of late idle time; never more than the sum. Not known of fewer than two.
Range price_together(const Ranking& ranking, const Basis& basis);

struct Prices {
  std::vector<Ranked> findings;
  Range together;
};
Prices price(std::vector<Claim> claims, const Basis& basis, const Replays& replays, unsigned threads);

}  // namespace stepscope::advise
