// What claims save, in three stages: each change alone, each change after those above it, and all that limit
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

/// What a change saves by replay: with the host as recorded, and with a host without the cost of recording.
struct Saved {
  std::int64_t recorded = 0, unrecorded = 0;

  std::int64_t least() const { return std::min(recorded, unrecorded); }
  std::int64_t most() const { return std::max(recorded, unrecorded); }
  /// The part beyond `before`, at least 0.
  Saved above(const Saved& before) const {
    return {std::max<std::int64_t>(0, recorded - before.recorded),
            std::max<std::int64_t>(0, unrecorded - before.unrecorded)};
  }
};

/// What savings of a rank are measured against.
struct Basis {
  std::int64_t step = 0;         ///< mean length
  std::int64_t steps = 1;        ///< in the window, at least 1
  std::int64_t most = 0;         ///< max saving if kernels stay as they are: the step less its compute time
  std::int64_t uncertainty = 0;  ///< by how much the mean steps of two recordings differ
  std::int64_t late = 0;         ///< idle because the host had not launched yet
  std::int64_t recording = 0;    ///< what recording added
  double pace = 1;               ///< host time without the cost of recording / host time as recorded
  std::int64_t unrecorded = 0;   ///< length of the whole window replayed at `pace`; 0 if not replayed
  bool without_first = false;    ///< savings exclude the first step, which took much longer
  bool has_device = false;

  /// Findings that save less are not shown.
  std::int64_t least() const;
};
Basis basis_of(const Evidence& evidence, const analyze::ReplayedRank& replayed);

/// The rank re-timed with changes.
struct Replays {
  bool usable = false;   ///< whether savings are differences of replays
  double error = 0;      ///< of the replay without changes: |replayed - recorded| / recorded
  std::string unusable;  ///< why not: "12 % off even without changes"
  std::function<Change(std::span<const analyze::Scale>)> change_of;
  std::function<Saved(const Change&)> saved;  ///< 0 if the change is not found
  /// "the host keeps the step at 16.2 ms": the limit once a change has saved that much; "" if that is
  /// not the host.
  std::function<std::string(const Change&, std::int64_t saved)> limit_behind;
};
/// Keeps a reference to `replayed`.
Replays replays_of(const analyze::ReplayedRank& replayed, const Basis& basis);

/// A claim's changes, and what they save alone.
struct Tried {
  Change ideal, mild;
  Saved saved, mildly_saved;
};
/// By claim; an element is empty if the claim is not replayed.
std::vector<Tried> tried(const std::vector<Claim>& claims, const Replays& replays, unsigned threads);

/// A claim with the range that its change saves alone.
struct Priced {
  Claim claim;             ///< `ideal` is cleared if nothing in the rank matches it
  bool by_replay = false;  ///< else the saving is the rule's estimate
  bool next = false;       ///< does not limit now
  Range saving;
  std::int64_t margin = 0;  ///< added to both ends of the range, as steps vary
  Range unshared;           ///< the range before other claims took part of its idle time
  std::int64_t others = 0;  ///< idle time that other claims took
  Confidence confidence = Confidence::low;
  std::vector<std::string> reasons;  ///< after `claim.because`: doubts, and where the saving comes from
  std::string aside;                 ///< what to know beside the saving
  bool unrecorded = false;           ///< the high end is for a host without the cost of recording
};

/// Alone: the replay without changes minus the replay with the change. If recording visibly slowed the host,
/// the range also covers that difference at the faster pace. If the recording cannot be replayed, the
/// estimate stays, with lower confidence. An estimate without a change is capped by what a replay without
/// `Claim::removed` saves. No saving exceeds `Basis::most`, unless kernels become shorter.
Priced priced_alone(const Claim& claim, const Tried& tried, const Basis& basis, const Replays& replays);

struct Candidate {
  Priced priced;
  Tried tried;
};

/// Late idle time that more specific claims would end is theirs, not that of slow launching in general. A
/// claim is dropped if what is left of it is below its rule's threshold.
std::vector<Candidate> left_to_others(std::vector<Candidate> candidates, const Basis& basis,
                                      const Replays& replays);

/// Orders by place, then by larger expected saving, then by smaller effort.
bool stands_before(const Priced& a, int place_of_a, const Priced& b, int place_of_b);

/// The first stage: all of the above. What limits now comes first, then larger expected savings.
std::vector<Candidate> price_alone(std::vector<Claim> claims, const Basis& basis, const Replays& replays,
                                   unsigned threads);

/// A finding and its place in the ranking.
struct Ranked : Priced {
  Range after;           ///< after those above are done; unknown for estimates
  bool covered = false;  ///< saves nothing after those above, or most of its saving only then
  bool small = false;    ///< too little to show
  bool much = false;     ///< an estimate, no limit, and much of the step
};
report::When when_of(const Ranked& finding);
/// Order: limits now, next, covered by others, facts, too small. Within each:
/// larger expected saving, then smaller effort.
bool ranks_before(const Ranked& a, const Ranked& b);
/// By ranks_before(), but general claims come behind all estimates that are `much`.
void put_in_order(std::vector<Ranked>& findings);

struct Ranking {
  std::vector<Ranked> findings;
  Saved limiting;  ///< saved together by the replayed findings that limit now, neither next nor covered
};
/// The second stage: differences of replays with more and more changes. Changes that add nothing, or save
/// most only after the others, go last.
Ranking price_after(std::vector<Candidate> candidates, const Basis& basis, const Replays& replays,
                    unsigned threads);

/// The third stage: what all findings that limit now save together: one replay with all changes, plus the
/// estimates' share of the late idle time that it leaves. Never more than the sum. Unknown for fewer than
/// two.
Range price_together(const Ranking& ranking, const Basis& basis);

/// What the job gains: of a rank that is slow in every step, findings that no other rank has save at most
/// what mending that rank saves; those of several such ranks at most what mending all of them saves.
/// Communication is priced for the job already.
void cap_by_job(std::vector<Ranked>& findings, const analyze::Stragglers& stragglers);

struct Prices {
  std::vector<Ranked> findings;
  Range together;
};
Prices price(std::vector<Claim> claims, const Basis& basis, const Replays& replays, unsigned threads);

}  // namespace stepscope::advise
