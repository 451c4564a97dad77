#include "analyze/idle/host_bound.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "derive/idle/launch_queue.h"
#include "derive/innermost.h"

namespace stepscope::analyze {
namespace {

using derive::IdleCause;
using derive::IdlePiece;
using derive::LaunchQueue;
using report::kNoInt;
using report::Role;
using report::Tag;
using report::Unit;
using timeline::Interval;
using trace::EventTable;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

constexpr std::int64_t kMinStretch = 1'000'000;  // ns

/// The part of a device's gap before the call that launched the event after the gap.
struct Stretch {
  Interval span;
  IdleCause cause;
  std::int64_t device;
  Row ender;
};

/// Joins the pieces of each gap, except pending ones, and keeps the long stretches, longest first.
std::vector<Stretch> stretches(const Column<IdlePiece>& pieces,
                               const std::vector<derive::DeviceBusy>& devices) {
  std::vector<Stretch> found;
  for (std::size_t i = 0; i < pieces.size();) {
    std::size_t end = i;
    std::array<std::int64_t, derive::kIdleCauses> time{};
    Interval late{pieces[i].span.begin, pieces[i].span.begin};
    for (; end < pieces.size() && pieces[end].ender == pieces[i].ender &&
           pieces[end].device == pieces[i].device;
         ++end) {
      if (pieces[end].cause == IdleCause::pending) continue;
      late.end = pieces[end].span.end;
      time[static_cast<std::size_t>(pieces[end].cause)] += pieces[end].span.length();
    }
    const auto most = static_cast<std::size_t>(std::max_element(time.begin(), time.end()) - time.begin());
    if (late.length() >= kMinStretch && pieces[i].ender != kNoRow)
      found.push_back({late, static_cast<IdleCause>(most),
                       devices[static_cast<std::size_t>(pieces[i].device)].device, pieces[i].ender});
    i = end;
  }
  std::sort(found.begin(), found.end(), [](const Stretch& a, const Stretch& b) {
    return std::tuple(-a.span.length(), a.span.begin, a.device) <
           std::tuple(-b.span.length(), b.span.begin, b.device);
  });
  return found;
}

/// Threads of the rank that launched device work, busiest first.
std::vector<trace::TrackId> launching_threads(const Rank& rank, const LaunchQueue& queue) {
  std::vector<std::size_t> count(rank.tracks.size());
  for (const Row launch : queue.launch) ++count[rank.events.track[launch]];
  std::vector<trace::TrackId> threads;
  for (trace::TrackId t = 0; t < count.size(); ++t)
    if (count[t] > 0) threads.push_back(t);
  std::stable_sort(threads.begin(), threads.end(),
                   [&](trace::TrackId a, trace::TrackId b) { return count[a] > count[b]; });
  return threads;
}

/// The host range that fills the stretch: the innermost range that covers half of it, on the thread of the
/// next launch, else on another launching thread.
Row host_range(const Rank& rank, const Stretch& stretch, const std::vector<trace::TrackId>& threads) {
  const Row launch = rank.events.launch[stretch.ender];
  const std::int64_t middle = stretch.span.begin + stretch.span.length() / 2;
  const auto on = [&](trace::TrackId track) {
    const Row inner = derive::innermost_at(rank, rank.tracks[track], middle);
    return derive::covers_half(rank.events, inner, stretch.span.begin, stretch.span.end);
  };
  Row row = launch == kNoRow ? kNoRow : on(rank.events.track[launch]);
  constexpr std::size_t kMaxThreads = 16;
  for (std::size_t i = 0; row == kNoRow && i < std::min(threads.size(), kMaxThreads); ++i)
    row = on(threads[i]);
  return row;
}

}  // namespace

const report::Sheet<HostBoundStretch> kStretchSheet{
    "Host-bound stretches",
    report::Shape::table,
    {report::rank_field<HostBoundStretch>(&HostBoundStretch::rank),
     {"device", &HostBoundStretch::device, Unit::none, Role::key},
     {"start", &HostBoundStretch::start, Unit::ns, Tag::of_one_run},
     {"length", &HostBoundStretch::length, Unit::ns},
     {"step", +[](const HostBoundStretch& s) { return s.step == kNoInt ? "" : std::to_string(s.step); },
      Role::detail},
     {"cause", report::named<&HostBoundStretch::cause>, Role::value},
     {"host", &HostBoundStretch::host, Role::value},
     {"op", &HostBoundStretch::op, Role::value},
     {"thread", &HostBoundStretch::thread, Role::detail},
     {"next", &HostBoundStretch::next, Role::detail}}};

void add_stretches(std::vector<HostBoundStretch>& found, const Derived& derived, const Rank& rank) {
  const trace::Trace& trace = derived.trace();
  const EventTable& e = rank.events;
  const auto threads = launching_threads(rank, derived.queue(rank));
  const std::int64_t origin = origin_of(rank);
  for (const Stretch& stretch : stretches(derived.idle(rank), derived.busy(rank))) {
    const Row host = host_range(rank, stretch, threads);
    Row op = host;
    while (op != kNoRow && e.kind[op] != trace::Kind::op) op = e.parent[op];
    const std::int32_t step = e.step[stretch.ender];
    HostBoundStretch& of = found.emplace_back();
    of.rank = rank.rank;
    of.device = stretch.device;
    of.start = stretch.span.begin - origin;
    of.length = stretch.span.length();
    of.step = step < 0 ? kNoInt : rank.steps[static_cast<std::size_t>(step)].number;
    of.cause = stretch.cause;
    if (host != kNoRow) of.host = trace.name(rank, host);
    if (op != kNoRow) of.op = trace.name(rank, op);
    if (host != kNoRow) of.thread = rank.tracks[e.track[host]].tid;
    of.next = trace.name(rank, stretch.ender);
  }
}

}  // namespace stepscope::analyze
