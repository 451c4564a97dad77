#include "analyze/idle/idle.h"

#include <algorithm>
#include <array>

#include "analyze/list.h"
#include "derive/idle/idle_cause.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::IdleCause;
using derive::IdlePiece;
using report::Role;
using report::Shape;
using report::Tag;
using report::Unit;
using timeline::Interval;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

/// Outermost annotation above a row, excluding step marks.
std::string_view region_of(const trace::Trace& trace, const Rank& rank, Row row) {
  std::string_view region;
  for (Row at = rank.events.parent[row]; at != kNoRow; at = rank.events.parent[at])
    if (rank.events.kind[at] == trace::Kind::annotation && !trace.name(rank, at).starts_with("ProfilerStep"))
      region = trace.name(rank, at);
  return region;
}

IdleGap gap_of(const trace::Trace& trace, const Rank& rank, const IdlePiece& piece, std::int64_t device,
               std::int64_t origin) {
  const trace::EventTable& e = rank.events;
  IdleGap gap{rank.rank, device, piece.span.begin - origin, piece.span.length(), piece.cause, {}, {}, {},
              {},        {}};
  if (piece.ender == kNoRow) {
    gap.ended_by = "end of the window";
    return gap;
  }
  gap.ended_by = trace.name(rank, piece.ender);
  const std::int32_t step = e.step[piece.ender];
  if (step >= 0) gap.step = std::to_string(rank.steps[static_cast<std::size_t>(step)].number);
  if (e.op[piece.ender] != kNoRow) gap.op = trace.name(rank, e.op[piece.ender]);
  const Row launch = e.launch[piece.ender];
  if (launch == kNoRow) return gap;
  gap.thread = rank.tracks[e.track[launch]].tid;
  gap.region = region_of(trace, rank, launch);
  return gap;
}

constexpr std::size_t kMaxGaps = 50;

/// A launch never takes this long to start on an idle device: records are missing.
constexpr std::int64_t kLongPending = 500'000;  // ns

/// Length of a pending piece after its launch call returned: a call may load code before it launches.
std::int64_t behind_launch(const Rank& rank, const IdlePiece& piece) {
  const Row launch = piece.ender == kNoRow ? kNoRow : rank.events.launch[piece.ender];
  const std::int64_t returned = launch == kNoRow ? piece.span.begin : rank.events.end[launch];
  return piece.span.end - std::max(piece.span.begin, std::min(returned, piece.span.end));
}

IdleTotals totals_of(const Rank& rank, const Column<IdlePiece>& pieces, std::int64_t devices) {
  IdleTotals totals{rank.rank};
  for (const IdlePiece& piece : pieces) {
    const bool waits = piece.cause == IdleCause::pending;
    report::add_to(waits ? totals.pending : totals.late, piece.span.length());
    const std::int64_t behind = waits ? behind_launch(rank, piece) : 0;
    if (behind >= kLongPending) report::add_to(totals.pending_long, behind);
  }
  totals.late /= devices;
  totals.pending /= devices;
  totals.pending_long /= devices;
  return totals;
}

void add_rank(Idle& idle, const Derived& derived, const Rank& rank) {
  const StepChoice& choice = derived.choice();
  const auto& devices = derived.busy(rank);
  const Interval window = window_of(rank, choice);
  const auto& pieces = derived.idle(rank);
  if (!devices.empty())
    idle.totals.push_back(totals_of(rank, pieces, static_cast<std::int64_t>(devices.size())));
  std::int64_t steps = 0;
  for (const StepSpan& s : step_spans(rank))
    steps += choice.includes(rank.steps[s.index]) && !(s.partial && choice.all());
  auto piece_of_device = pieces.begin();
  for (std::size_t d = 0; d < devices.size(); ++d) {
    std::array<std::int64_t, derive::kIdleCauses> time{}, count{};
    for (; piece_of_device != pieces.end() && piece_of_device->device == static_cast<std::int32_t>(d);
         ++piece_of_device) {
      time[static_cast<std::size_t>(piece_of_device->cause)] += piece_of_device->span.length();
      ++count[static_cast<std::size_t>(piece_of_device->cause)];
    }
    std::array<std::size_t, derive::kIdleCauses> order{};
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return time[a] > time[b]; });
    for (std::size_t c : order) {
      if (time[c] == 0) continue;
      idle.causes.push_back({rank.rank, devices[d].device, static_cast<IdleCause>(c), count[c], time[c],
                             steps == 0 ? report::kNoInt : time[c] / steps,
                             report::ratio(time[c], window.length())});
    }
  }
  std::vector<IdlePiece> longest(std::min(kMaxGaps, pieces.size()));
  const auto longer = [](const IdlePiece& a, const IdlePiece& b) {
    if (a.span.length() != b.span.length()) return a.span.length() > b.span.length();
    return a.span.begin != b.span.begin ? a.span.begin < b.span.begin : a.device < b.device;
  };
  std::partial_sort_copy(pieces.begin(), pieces.end(), longest.begin(), longest.end(), longer);
  const std::int64_t origin = origin_of(rank);
  for (const IdlePiece& piece : longest)
    idle.gaps.push_back(
        gap_of(derived.trace(), rank, piece, devices[static_cast<std::size_t>(piece.device)].device, origin));
  add_idle_places(idle.places, derived, rank, steps);
}

const report::Sheet<IdleByCause> kCauseSheet{
    "Idle time by what the host did",
    Shape::bars,
    {report::rank_field<IdleByCause>(&IdleByCause::rank),
     {"device", &IdleByCause::device, Unit::none, Role::key},
     {"cause", report::named<&IdleByCause::cause>},
     {"pieces", &IdleByCause::pieces, Unit::count},
     {"time", &IdleByCause::time, Unit::ns},
     {"per_step", &IdleByCause::per_step, Unit::ns},
     {"share", &IdleByCause::share, Unit::share, Role::share},
     {"meaning", +[](const IdleByCause& of) { return std::string(meaning_of(of.cause)); }, Role::detail}}};

const report::Sheet<IdleGap> kGapSheet{"Longest idle stretches",
                                       Shape::table,
                                       {report::rank_field<IdleGap>(&IdleGap::rank),
                                        {"device", &IdleGap::device, Unit::none, Role::key},
                                        {"start", &IdleGap::start, Unit::ns, Tag::of_one_run},
                                        {"length", &IdleGap::length, Unit::ns},
                                        {"step", &IdleGap::step, Role::detail},
                                        {"cause", report::named<&IdleGap::cause>, Role::value},
                                        {"ended_by", &IdleGap::ended_by, Role::detail},
                                        {"thread", &IdleGap::thread, Role::detail},
                                        {"region", &IdleGap::region, Role::detail},
                                        {"op", &IdleGap::op, Role::detail}}};

}  // namespace

const report::FactSheet<IdleTotals> kIdleTotals{"Idle totals",
                                                "time",
                                                Unit::ns,
                                                {{"idle_late", &IdleTotals::late},
                                                 {"idle_pending", &IdleTotals::pending},
                                                 {"pending_long", &IdleTotals::pending_long}}};

Idle idle_of(const Derived& derived) {
  Idle idle;
  for (const Rank& rank : derived.trace().ranks) {
    add_rank(idle, derived, rank);
    note_whole_gaps(idle.notes, derived, rank);
  }
  if (idle.causes.empty())
    idle.notes.emplace_back(
        "Idle time is not known: no device activity is recorded. Record with ProfilerActivity.CUDA (or XPU, "
        "MTIA …) and CPU.");
  return idle;
}

constinit const About idle_about = {};

report::Report idle(const Derived& derived, const report::Params&) {
  const bool several = derived.trace().several();
  Idle of = idle_of(derived);
  return {"idle",
          {tabulate(kCauseSheet, of.causes, several), tabulate(kIdleTotals, of.totals, several),
           tabulate(kGapSheet, of.gaps, several), tabulate(kPlaceSheet, of.places, several)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
