// Why each device was idle, gap by gap.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyze/derived.h"
#include "analyze/idle/idle_places.h"
#include "analyze/list.h"
#include "derive/idle/idle_cause.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::IdleCause;
using derive::IdlePiece;
using report::Role;
using report::Shape;
using report::Unit;
using timeline::Interval;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

struct CauseTable {
  explicit CauseTable(const trace::Trace& trace)
      : rank(table, trace),
        device(table.ints("device", Unit::none, Role::key)),
        cause(table.texts("cause")),
        pieces(table.ints("pieces", Unit::count)),
        time(table.ints("time", Unit::ns)),
        per_step(table.ints("per_step", Unit::ns)),
        share(table.reals("share", Unit::share, Role::share)),
        meaning(table.texts("meaning", Role::detail)) {}
  report::Table table{"Idle time by what the host did", Shape::bars, {}};
  RankColumn rank;
  report::Ints& device;
  report::Texts& cause;
  report::Ints &pieces, &time, &per_step;
  report::Reals& share;
  report::Texts& meaning;
};

/// The totals that verdicts rest on, per rank, as means over its devices.
struct TotalTable {
  explicit TotalTable(const trace::Trace& trace)
      : rank(table, trace), fact(table.texts("fact")), time(table.ints("time", Unit::ns)) {}
  report::Table table{"Idle totals", Shape::table, {}};
  RankColumn rank;
  report::Texts& fact;
  report::Ints& time;
  void add(const Rank& r, const char* name, std::int64_t value) {
    rank.add(r);
    fact.emplace_back(name);
    time.push_back(value);
  }
};

struct GapTable {
  explicit GapTable(const trace::Trace& trace)
      : rank(table, trace),
        device(table.ints("device", Unit::none, Role::key)),
        start(table.ints("start", Unit::ns, Role::key)),
        length(table.ints("length", Unit::ns)),
        step(table.texts("step", Role::detail)),
        cause(table.texts("cause", Role::value)),
        ender(table.texts("ended_by", Role::detail)),
        thread(table.texts("thread", Role::detail)),
        region(table.texts("region", Role::detail)),
        op(table.texts("op", Role::detail)) {}
  report::Table table{"Longest idle stretches", Shape::table, {}};
  RankColumn rank;
  report::Ints &device, &start, &length;
  report::Texts &step, &cause, &ender, &thread, &region, &op;
};

/// Outermost annotation above a row that is not a step mark.
std::string_view region_of(const trace::Trace& trace, const Rank& rank, Row row) {
  std::string_view region;
  for (Row at = rank.events.parent[row]; at != kNoRow; at = rank.events.parent[at])
    if (rank.events.kind[at] == trace::Kind::annotation && !trace.name(rank, at).starts_with("ProfilerStep"))
      region = trace.name(rank, at);
  return region;
}

void add_gap(GapTable& out, const trace::Trace& trace, const Rank& rank, const IdlePiece& piece,
             std::int64_t device, std::int64_t origin) {
  out.rank.add(rank);
  out.device.push_back(device);
  out.start.push_back(piece.span.begin - origin);
  out.length.push_back(piece.span.length());
  out.cause.emplace_back(name_of(piece.cause));
  const trace::EventTable& e = rank.events;
  const Row launch = piece.ender == kNoRow ? kNoRow : e.launch[piece.ender];
  out.step.push_back(piece.ender != kNoRow && e.step[piece.ender] >= 0
                         ? std::to_string(rank.steps[static_cast<std::size_t>(e.step[piece.ender])].number)
                         : "");
  out.ender.emplace_back(piece.ender == kNoRow ? "end of the window" : trace.name(rank, piece.ender));
  out.thread.push_back(launch == kNoRow ? "" : rank.tracks[e.track[launch]].tid);
  out.region.emplace_back(launch == kNoRow ? "" : region_of(trace, rank, launch));
  out.op.emplace_back(
      piece.ender == kNoRow || e.op[piece.ender] == kNoRow ? "" : trace.name(rank, e.op[piece.ender]));
}

constexpr std::size_t kMaxGaps = 50;

/// Launched and not started for so long with nothing running: no launch takes it, records are missing.
constexpr std::int64_t kLongPending = 500'000;  // ns

/// The part of a pending piece behind the return of its launch call: a call may load code before it launches.
std::int64_t behind_launch(const Rank& rank, const IdlePiece& piece) {
  const Row launch = piece.ender == kNoRow ? kNoRow : rank.events.launch[piece.ender];
  const std::int64_t returned = launch == kNoRow ? piece.span.begin : rank.events.end[launch];
  return piece.span.end - std::max(piece.span.begin, std::min(returned, piece.span.end));
}

void add_totals(TotalTable& out, const Rank& rank, const Column<IdlePiece>& pieces, std::int64_t devices) {
  std::int64_t pending = 0, late = 0, long_pending = 0;
  for (const IdlePiece& piece : pieces) {
    const bool waits = piece.cause == IdleCause::pending;
    report::add_to(waits ? pending : late, piece.span.length());
    const std::int64_t behind = waits ? behind_launch(rank, piece) : 0;
    if (behind >= kLongPending) report::add_to(long_pending, behind);
  }
  out.add(rank, "idle_late", late / devices);
  out.add(rank, "idle_pending", pending / devices);
  out.add(rank, "pending_long", long_pending / devices);
}

void add_rank(const Derived& derived, const Rank& rank, CauseTable& causes, TotalTable& totals,
              GapTable& gaps, report::Table& places) {
  const StepChoice& choice = derived.choice();
  const auto& devices = derived.busy(rank);
  const Interval window = window_of(rank, choice);
  const auto& pieces = derived.idle(rank);
  if (!devices.empty()) add_totals(totals, rank, pieces, static_cast<std::int64_t>(devices.size()));
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
      causes.rank.add(rank);
      causes.device.push_back(devices[d].device);
      causes.cause.emplace_back(derive::name_of(static_cast<IdleCause>(c)));
      causes.pieces.push_back(count[c]);
      causes.time.push_back(time[c]);
      causes.per_step.push_back(steps == 0 ? report::kNoInt : time[c] / steps);
      causes.share.push_back(
          window.length() == 0 ? 0 : static_cast<double>(time[c]) / static_cast<double>(window.length()));
      causes.meaning.emplace_back(derive::meaning_of(static_cast<IdleCause>(c)));
    }
  }
  Column<IdlePiece> longest = pieces;
  const auto longer = [](const IdlePiece& a, const IdlePiece& b) {
    if (a.span.length() != b.span.length()) return a.span.length() > b.span.length();
    return a.span.begin != b.span.begin ? a.span.begin < b.span.begin : a.device < b.device;
  };
  const auto cut = longest.begin() + static_cast<std::ptrdiff_t>(std::min(kMaxGaps, longest.size()));
  std::partial_sort(longest.begin(), cut, longest.end(), longer);
  const std::int64_t origin = origin_of(rank);
  for (auto piece = longest.begin(); piece != cut; ++piece)
    add_gap(gaps, derived.trace(), rank, *piece, devices[static_cast<std::size_t>(piece->device)].device,
            origin);
  add_idle_places(places, derived, rank, steps);
}

}  // namespace

constinit const About idle_about = {};

report::Report idle(const Derived& derived, const report::Params&) {
  const trace::Trace& trace = derived.trace();
  CauseTable causes(trace);
  TotalTable totals(trace);
  GapTable gaps(trace);
  report::Table places = place_table(trace, "Idle time by place");
  report::Report report{"idle", {}, {}};
  for (const Rank& rank : trace.ranks) {
    add_rank(derived, rank, causes, totals, gaps, places);
    note_whole_gaps(report, derived, rank);
  }
  if (causes.table.rows() == 0)
    report.notes.push_back(
        "No idle time can be stated: no device activity is recorded. Record with ProfilerActivity.CUDA (or "
        "XPU, MTIA …) beside CPU.");
  report.tables.push_back(std::move(causes.table));
  report.tables.push_back(std::move(totals.table));
  report.tables.push_back(std::move(gaps.table));
  report.tables.push_back(std::move(places));
  return report;
}

}  // namespace stepscope::analyze
