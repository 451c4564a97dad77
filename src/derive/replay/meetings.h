// Where the replays of several ranks meet: collectives that none can leave before the last has come.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derive/ranks/collective_match.h"
#include "derive/replay/plan.h"

namespace stepscope::derive {

struct Meetings {
  static constexpr std::int32_t kNone = -1;

  struct Meeting {
    std::uint32_t first, count;  ///< in `members`
    timeline::Time transfer;     ///< recorded, ns: from the last one's start to the end
    bool message = false;        ///< from one rank to another: neither can do without the other
  };
  struct Member {
    std::uint32_t meeting, rank;
    std::int32_t event;   ///< of the rank's plan
    timeline::Time wait;  ///< recorded, ns
    std::int32_t input;   ///< event that it cannot start before, or kNone: see below
  };
  std::vector<Meeting> meetings;
  std::vector<Member> members;
  std::vector<Column<std::int32_t>> of_event;  ///< by rank, then event of its plan: its member, or kNone
  std::int64_t unmatched = 0;                  ///< rows of collectives that are replayed alone
};

/// `plans`: of each rank of the trace. Collectives of one device event per rank that are matched and
/// synchronise, and messages of 1 MiB and more that are matched by order; an event of several is none. What a
/// collective sends was made by the kernel that its thread launched last before it: a rank that waits for
/// others hides this, as the kernel has long ended when its stream reaches the collective.
Meetings meetings_of(const trace::Trace& trace, const Collectives& collectives,
                     std::span<const ReplayPlan* const> plans);

/// Who has come to which meeting in one replay, and when it ends.
class Gathering {
 public:
  enum class Pace : std::uint8_t { last, median };  ///< with whom a meeting begins; a message with the last

  /// `absent`: by rank, whether the others do without it; empty: none.
  Gathering(const Meetings& meetings, Pace pace, const std::vector<bool>& absent);

  const Meetings& meetings() const { return meetings_; }
  /// The member's start is `moved` ns later than recorded; `factor`: of the transfer, of which the meeting
  /// takes the largest. True when it was the last one.
  bool arrive(std::uint32_t member, timeline::Time moved, double factor);
  bool over(std::uint32_t meeting) const { return missing_[meeting] == 0 || given_up_[meeting]; }
  /// The member's new length, of a meeting that is over; `moved` as it was on arrival.
  timeline::Time length(std::uint32_t member, timeline::Time moved, double factor) const;

  /// From now on it has the recorded length on every rank.
  void give_up(std::uint32_t meeting) { given_up_[meeting] = true; }
  std::int64_t given_up() const;

 private:
  timeline::Time begins(std::uint32_t meeting) const;

  const Meetings& meetings_;
  const Pace pace_;
  Column<timeline::Time> came_;         // by member: later than the recorded last one, ns
  std::vector<std::uint32_t> missing_;  // by meeting
  std::vector<timeline::Time> begins_;  // likewise, once it is over
  std::vector<double> factor_;
  std::vector<bool> given_up_;
};

}  // namespace stepscope::derive
