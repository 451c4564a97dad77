// Where the replays of several ranks meet: collectives that no rank can leave before the last has arrived.
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
    std::uint32_t first, count;  ///< range in `members`
    timeline::Time transfer;     ///< recorded, ns: from the last rank's start to the end
    bool message = false;        ///< between two ranks: neither end can proceed without the other
  };
  struct Member {
    std::uint32_t meeting, rank;
    std::int32_t event;   ///< index in the rank's plan
    timeline::Time wait;  ///< recorded, ns
    std::int32_t input;   ///< event that must end before this one starts, or kNone: see below
  };
  std::vector<Meeting> meetings;
  std::vector<Member> members;
  std::vector<Column<std::int32_t>> of_event;  ///< by rank, then event of its plan: member index, or kNone
  std::int64_t unmatched = 0;                  ///< collective rows that are replayed without a meeting
};

/// `plans`: by rank of the trace. A meeting is a matched collective that synchronizes ranks and is one device
/// event on each, or a message of at least 1 MiB that is matched by order. The input of a meeting is the
/// kernel that its thread launched last before it, because that kernel made the data to send. A rank that
/// waits for others hides this dependency: the kernel has long ended when its stream reaches the collective.
Meetings meetings_of(const trace::Trace& trace, const Collectives& collectives,
                     std::span<const ReplayPlan* const> plans);

/// Which ranks have arrived at each meeting of one replay, and when the meeting ends.
class Gathering {
 public:
  enum class Pace : std::uint8_t { last, median };  ///< the arrival that begins a meeting (message: last)

  /// `absent`: by rank, true if the others run without it; empty: no rank is absent.
  Gathering(const Meetings& meetings, Pace pace, const std::vector<bool>& absent);

  const Meetings& meetings() const { return meetings_; }
  /// The member's start is `moved` ns later than recorded. `factor` scales the transfer; the meeting uses the
  /// largest factor of its members. True if this member was the last to arrive.
  bool arrive(std::uint32_t member, timeline::Time moved, double factor);
  bool over(std::uint32_t meeting) const { return missing_[meeting] == 0 || given_up_[meeting]; }
  /// The member's new length, once the meeting is over; `moved` as on arrival.
  timeline::Time length(std::uint32_t member, timeline::Time moved, double factor) const;

  /// From now on the meeting has its recorded length on every rank.
  void give_up(std::uint32_t meeting) { given_up_[meeting] = true; }
  std::int64_t given_up() const;

 private:
  timeline::Time begins(std::uint32_t meeting) const;

  const Meetings& meetings_;
  const Pace pace_;
  Column<timeline::Time> came_;         // by member: arrival minus the recorded last arrival, ns
  std::vector<std::uint32_t> missing_;  // by meeting: members yet to arrive
  std::vector<timeline::Time> begins_;  // by meeting, once it is over: begin minus the recorded begin, ns
  std::vector<double> factor_;
  std::vector<bool> given_up_;
};

}  // namespace stepscope::derive
