#include "derive/replay/meetings.h"

#include <algorithm>
#include <limits>

#include "base/median.h"
#include "derive/replay/host_scale.h"

namespace stepscope::derive {
namespace {

using timeline::Time;

/// By rank, then collective row: the device event that covers the whole row, or kNone.
std::vector<std::vector<std::int32_t>> events_of(const trace::Trace& trace, const Collectives& collectives,
                                                 std::span<const ReplayPlan* const> plans) {
  std::vector<std::vector<std::int32_t>> events(collectives.rows.size());
  for (std::size_t r = 0; r < events.size(); ++r) {
    const trace::Rank& rank = trace.ranks[r];
    std::vector<std::int32_t> of_row(rank.events.size() - rank.first_device_row(), Meetings::kNone);
    for (std::size_t i = 0; i < plans[r]->events.size(); ++i)
      of_row[plans[r]->events[i].row - rank.first_device_row()] = static_cast<std::int32_t>(i);
    for (const CollectiveRow& row : collectives.rows[r]) {
      const bool whole = row.row >= rank.first_device_row() &&
                         rank.events.start[row.row] + rank.base_ns == row.start &&
                         rank.events.end[row.row] + rank.base_ns == row.end;
      events[r].push_back(whole ? of_row[row.row - rank.first_device_row()] : Meetings::kNone);
    }
  }
  return events;
}

/// By event of the plan: the compute kernel that its thread launched last before it, if that kernel had ended
/// when the event began.
std::vector<std::int32_t> inputs_of(const trace::Rank& rank, const ReplayPlan& plan) {
  const trace::EventTable& e = rank.events;
  std::vector<std::int32_t> kernel_of(plan.calls.size(), Meetings::kNone), newest(plan.calls.size());
  for (std::size_t i = 0; i < plan.events.size(); ++i)
    if (plan.events[i].call != ReplayPlan::kNone && e.work[plan.events[i].row] == trace::Work::compute)
      kernel_of[static_cast<std::size_t>(plan.events[i].call)] = static_cast<std::int32_t>(i);
  std::int32_t last = Meetings::kNone;
  for (std::size_t c = 0; c < plan.calls.size(); ++c) {
    if (c > 0 && e.track[plan.calls[c].row] != e.track[plan.calls[c - 1].row]) last = Meetings::kNone;
    newest[c] = last;
    if (kernel_of[c] != Meetings::kNone) last = kernel_of[c];
  }
  std::vector<std::int32_t> inputs(plan.events.size(), Meetings::kNone);
  for (std::size_t i = 0; i < plan.events.size(); ++i) {
    if (plan.events[i].call == ReplayPlan::kNone) continue;
    const std::int32_t on = newest[static_cast<std::size_t>(plan.events[i].call)];
    if (on != Meetings::kNone &&
        e.end[plan.events[static_cast<std::size_t>(on)].row] <= e.start[plan.events[i].row])
      inputs[i] = on;
  }
  return inputs;
}

/// True if no rank leaves before the last has arrived. A large message waits for its receiver; a small one is
/// sent ahead.
bool together(const Collectives& collectives, const Instance& instance) {
  constexpr std::int64_t kLargeMessage = 1 << 20;  // bytes
  if (instance.exchange != Exchange::point_to_point) return synchronizes(instance.exchange);
  return instance.match == Match::by_order &&
         collectives.row(collectives.members(instance).front()).bytes >= kLargeMessage;
}

}  // namespace

Meetings meetings_of(const trace::Trace& trace, const Collectives& collectives,
                     std::span<const ReplayPlan* const> plans) {
  const auto events = events_of(trace, collectives, plans);
  std::vector<std::vector<std::int32_t>> inputs;
  Meetings out;
  for (std::size_t r = 0; r < plans.size(); ++r) {
    out.of_event.emplace_back(plans[r]->events.size(), Meetings::kNone);
    inputs.push_back(inputs_of(trace.ranks[r], *plans[r]));
    out.unmatched += std::ssize(collectives.rows[r]);
  }
  for (const Instance& instance : collectives.matches.instances) {
    const auto members = collectives.members(instance);
    const bool joined =
        together(collectives, instance) && std::all_of(members.begin(), members.end(), [&](const Member& m) {
          return events[m.rank][m.row] != Meetings::kNone;
        });
    if (!joined) continue;
    const auto meeting = static_cast<std::uint32_t>(out.meetings.size());
    const Time transfer = collectives.transfer(instance);
    out.meetings.push_back({static_cast<std::uint32_t>(out.members.size()), instance.count, transfer,
                            instance.exchange == Exchange::point_to_point});
    for (const Member& m : members) {
      const CollectiveRow& row = collectives.row(m);
      const std::int32_t event = events[m.rank][m.row];
      out.of_event[m.rank][static_cast<std::size_t>(event)] = static_cast<std::int32_t>(out.members.size());
      out.members.push_back({meeting, m.rank, event, row.end - row.start - transfer,
                             inputs[m.rank][static_cast<std::size_t>(event)]});
    }
    out.unmatched -= instance.count;
  }
  return out;
}

Gathering::Gathering(const Meetings& meetings, Pace pace, const std::vector<bool>& absent)
    : meetings_(meetings),
      pace_(pace),
      came_(meetings.members.size(), std::numeric_limits<Time>::min()),
      begins_(meetings.meetings.size()),
      factor_(meetings.meetings.size()),
      given_up_(meetings.meetings.size()) {
  for (const Meetings::Meeting& meeting : meetings.meetings) missing_.push_back(meeting.count);
  for (const Meetings::Member& member : meetings.members)
    if (!absent.empty() && absent[member.rank]) --missing_[member.meeting];
}

bool Gathering::arrive(std::uint32_t member, Time moved, double factor) {
  const Meetings::Member& who = meetings_.members[member];
  came_[member] = moved - who.wait;
  factor_[who.meeting] = std::max(factor_[who.meeting], factor);
  if (--missing_[who.meeting] > 0) return false;
  begins_[who.meeting] = begins(who.meeting);
  return true;
}

Time Gathering::begins(std::uint32_t meeting) const {
  const Meetings::Meeting& m = meetings_.meetings[meeting];
  const auto first = came_.begin() + m.first, last = first + m.count;
  if (pace_ == Pace::last || m.message) return *std::max_element(first, last);
  std::vector<Time> came(first, last);
  return median_of(came);
}

Time Gathering::length(std::uint32_t member, Time moved, double factor) const {
  const Meetings::Member& who = meetings_.members[member];
  const Time transfer = meetings_.meetings[who.meeting].transfer;
  if (given_up_[who.meeting]) return scaled(who.wait + transfer, factor);
  const Time wait = begins_[who.meeting] - (moved - who.wait);
  return std::max<Time>(0, wait) + scaled(transfer, factor_[who.meeting]);
}

std::int64_t Gathering::given_up() const { return std::count(given_up_.begin(), given_up_.end(), true); }

}  // namespace stepscope::derive
