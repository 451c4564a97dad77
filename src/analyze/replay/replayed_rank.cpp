#include "analyze/replay/replayed_rank.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "derive/capture.h"
#include "derive/idle/idle_place.h"
#include "derive/thread_role.h"
#include "report/statistics.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {

void Change::add(const Change& other) {
  found |= other.found;
  changes.host.insert(changes.host.end(), other.changes.host.begin(), other.changes.host.end());
  changes.waits = std::min(changes.waits, other.changes.waits);
  const auto least = [](std::vector<double>& own, const std::vector<double>& others) {
    if (own.empty()) own = others;
    for (std::size_t i = 0; i < others.size(); ++i) own[i] = std::min(own[i], others[i]);
  };
  least(changes.device, other.changes.device);
  least(changes.starts, other.changes.starts);
}

ReplayedRank::ReplayedRank(const trace::Trace& trace, const trace::Rank& rank, const StepChoice& choice,
                           const std::vector<derive::Waiting>& waits)
    : trace_(trace),
      rank_(rank),
      window_(trace, rank, choice),
      plan_(derive::replay_plan(trace, rank, waits, window_.marks())) {
  const derive::Replayed replayed = derive::replay(rank_, plan_, {});
  identity_ = window_.length(plan_, replayed);
  identity_without_first_ = window_.length(plan_, replayed, 1);
}

double ReplayedRank::error() const {
  return std::abs(report::ratio(identity_ - window_.recorded(), window_.recorded()));
}

std::int64_t ReplayedRank::length(const Change& change) const {
  return window_.length(plan_, derive::replay(rank_, plan_, change.changes));
}

std::int64_t ReplayedRank::length(const Change& change, bool without_first, double pace) const {
  return window_.length(plan_, derive::replay(rank_, plan_, change.changes, pace), without_first ? 1 : 0);
}

std::int64_t ReplayedRank::host_alone(derive::Changes changes, bool without_first) const {
  changes.device.assign(plan_.events.size(), 0);
  changes.starts = changes.device;
  changes.waits = 0;
  return length({std::move(changes), true}, without_first, 1);
}

std::int64_t ReplayedRank::saved(const Change& change, bool without_first) const {
  const derive::Replayed replayed = derive::replay(rank_, plan_, change.changes);
  return identity(without_first) - window_.length(plan_, replayed, without_first ? 1 : 0);
}

double ReplayedRank::unlinked() const {
  std::int64_t events = 0, unlinked = 0;
  for (const derive::ReplayPlan::Event& event : plan_.events) {
    if (!window_.contains(rank_.events.start[event.row])) continue;
    ++events;
    unlinked += event.call == derive::ReplayPlan::kNone;
  }
  return report::ratio(unlinked, events);
}

namespace {

constexpr double kFewUnlinked = 0.05;  // share of the window's device events

template <class Use>
void for_each_bit(std::uint32_t bits, Use use) {
  for (; bits != 0; bits &= bits - 1) use(static_cast<std::size_t>(std::countr_zero(bits)));
}

}  // namespace

std::vector<Launched> ReplayedRank::launched_in(std::span<const std::string_view> parts,
                                                const Column<derive::IdlePiece>& idle) const {
  const trace::EventTable& e = rank_.events;
  CHECK(parts.size() < 32);
  const derive::RecordingCost cost = derive::recording_cost(rank_);
  trace::AskedOnce parts_of(trace_.strings, [&](std::string_view name) {  // bit i: the name contains parts[i]
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (name.find(parts[i]) != std::string_view::npos) bits |= 1U << i;
    return bits;
  });
  std::vector<Launched> launched(parts.size());
  std::vector<std::vector<trace::Row>> outermost(parts.size());
  const std::vector<bool> is_sampled = derive::sampled_tracks(trace_, rank_);
  Column<std::uint32_t> inside(rank_.first_device_row(), 0);
  for (const trace::Row row : rank_.host_rows()) {
    if (!is_host_range(e.kind[row]) || is_sampled[e.track[row]]) continue;
    const std::uint32_t below = e.parent[row] == trace::kNoRow ? 0 : inside[e.parent[row]];
    const std::uint32_t own = parts_of(e.name[row]);
    inside[row] = below | own;
    if (below != 0) {
      const trace::Row parent = e.parent[row], above = e.parent[parent];
      const std::uint32_t outer = above == trace::kNoRow ? 0 : inside[above];
      for_each_bit(below & ~outer,
                   [&](std::size_t i) { report::add_to(launched[i].called, e.duration(row)); });
    }
    const bool called = e.kind[row] == trace::Kind::op &&
                        (e.parent[row] == trace::kNoRow || e.kind[e.parent[row]] != trace::Kind::op);
    for_each_bit(below, [&](std::size_t i) {
      launched[i].ops += called;
      launched[i].recording += cost.of(e.kind[row]);
    });
    for_each_bit(own & ~below, [&](std::size_t i) { outermost[i].push_back(row); });
  }
  for (std::size_t i = 0; i < parts.size(); ++i) add_ranges(outermost[i], launched[i]);
  std::vector<std::vector<std::int64_t>> lengths(parts.size());
  for (const derive::ReplayPlan::Event& event : plan_.events)
    if (const trace::Row launch = e.launch[event.row]; launch != trace::kNoRow)
      for_each_bit(inside[launch], [&](std::size_t i) { lengths[i].push_back(e.duration(event.row)); });
  for (std::size_t i = 0; i < parts.size(); ++i) {
    launched[i].events = static_cast<std::int64_t>(lengths[i].size());
    for (const std::int64_t length : lengths[i]) report::add_to(launched[i].device, length);
    launched[i].median = report::quantile(lengths[i], 0.5);
  }
  if (usable() && unlinked() < kFewUnlinked) return launched;
  std::set<std::int32_t> devices;
  for (const derive::IdlePiece& piece : idle) devices.insert(piece.device);
  derive::for_each_idle_place(trace_, rank_, idle, [&](const derive::IdlePlace& place) {
    if (place.row != trace::kNoRow && idle[place.piece].cause != derive::IdleCause::input)
      for_each_bit(inside[place.row], [&](std::size_t i) { report::add_to(launched[i].idle, place.time); });
  });
  for (Launched& part : launched) {
    part.idle /= std::max<std::int64_t>(1, std::ssize(devices));
    part.idle_asked = true;
  }
  return launched;
}

void ReplayedRank::add_ranges(std::vector<trace::Row>& rows, Launched& launched) const {
  const trace::EventTable& e = rank_.events;
  std::stable_sort(rows.begin(), rows.end(),
                   [&](trace::Row a, trace::Row b) { return e.start[a] < e.start[b]; });
  trace::Row latest = trace::kNoRow;  // the range that ends last so far
  for (const trace::Row row : rows) {
    const bool beside =
        latest != trace::kNoRow && e.track[row] != e.track[latest] && e.start[row] < e.end[latest];
    const std::int64_t alone =
        beside ? std::max<std::int64_t>(0, e.end[row] - e.end[latest]) : e.duration(row);
    if (launched.ranges == 0) launched.name = trace_.text(e.name[row]);
    launched.ranges += !beside;
    report::add_to(launched.host, alone);
    if (e.step[row] >= 2) {
      launched.later_ranges += !beside;
      report::add_to(launched.later_host, alone);
    }
    if (latest == trace::kNoRow || e.end[row] > e.end[latest]) latest = row;
  }
}

Change ReplayedRank::change_of(std::span<const Scale> scales) const {
  Change change;
  change.found = add_changes(trace_, rank_, plan_, scales, change.changes);
  return change;
}

}  // namespace stepscope::analyze
