// How far apart the clocks of the ranks are, how well that is known, and which collectives do not match.
#include "derive/ranks/clock_alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {
namespace {

using derive::Alignment;
using derive::ClockState;
using derive::RankClock;
using report::kNoInt;
using report::kNoReal;
using report::Role;
using report::Shape;
using report::Table;
using report::Unit;

std::int64_t whole(double ns) { return std::isfinite(ns) ? std::llround(ns) : kNoInt; }

Table clocks_of(const trace::Trace& trace, const Alignment& alignment) {
  Table table{"Clocks", Shape::table, {}};
  auto& rank = table.ints("rank", Unit::none, Role::key);
  auto& host = table.texts("host", Role::detail);
  auto& state = table.texts("state", Role::value);
  auto& offset = table.ints("offset", Unit::ns);
  auto& drift = table.reals("drift_ppm", Unit::none);
  auto& middle = table.ints("error_middle", Unit::ns);
  auto& edge = table.ints("error_edge", Unit::ns);
  auto& component = table.ints("component", Unit::none, Role::detail);
  auto& collectives = table.ints("collectives", Unit::count);
  auto& rejected = table.ints("rejected", Unit::count);
  auto& residual = table.ints("residual_p50", Unit::ns);
  auto& residual_95 = table.ints("residual_p95", Unit::ns, Role::detail);
  auto& low = table.ints("shift_low", Unit::ns, Role::detail);
  auto& high = table.ints("shift_high", Unit::ns, Role::detail);
  auto& why = table.texts("why", Role::value);
  for (std::size_t q = 0; q < alignment.clocks.size(); ++q) {
    const RankClock& clock = alignment.clocks[q];
    const bool fitted = clock.state != ClockState::apart;
    rank.push_back(trace.ranks[q].rank);
    host.push_back(host_of(trace.ranks[q]));
    state.emplace_back(derive::name_of(clock.state));
    offset.push_back(fitted ? clock.fit.map.shift + std::llround(clock.fit.map.offset) : kNoInt);
    drift.push_back(fitted ? clock.fit.map.drift * 1e6 : kNoReal);
    middle.push_back(fitted ? whole(clock.fit.uncertainty_middle) : kNoInt);
    edge.push_back(fitted ? whole(clock.fit.uncertainty_edge) : kNoInt);
    component.push_back(clock.fit.component);
    collectives.push_back(clock.collectives);
    rejected.push_back(clock.fit.rejected);
    residual.push_back(clock.collectives > 0 ? whole(clock.fit.residual_median) : kNoInt);
    residual_95.push_back(clock.collectives > 0 ? whole(clock.fit.residual_p95) : kNoInt);
    const bool bounded = clock.low <= clock.high;
    low.push_back(bounded ? clock.low : kNoInt);
    high.push_back(bounded ? clock.high : kNoInt);
    why.push_back(clock.why);
  }
  return table;
}

Table matches_of(const Alignment& alignment) {
  struct Count {
    std::int64_t certain = 0, by_order = 0, partial = 0, mismatched = 0, contradicting = 0;
  };
  std::vector<Count> counts(alignment.groups.size());
  for (const derive::Instance& instance : alignment.matches.instances) {
    Count& count = counts[instance.group];
    ++(instance.match == derive::Match::certain    ? count.certain
       : instance.match == derive::Match::by_order ? count.by_order
                                                   : count.partial);
  }
  for (const derive::Mismatch& mismatch : alignment.matches.mismatches) ++counts[mismatch.group].mismatched;
  for (const std::uint32_t i : alignment.contradicting)
    ++counts[alignment.matches.instances[i].group].contradicting;
  Table table{"Collectives matched across ranks", Shape::table, {}};
  auto& members = table.texts("ranks");
  auto& name = table.texts("group");
  auto& certain = table.ints("by_sequence", Unit::count);
  auto& by_order = table.ints("by_order", Unit::count);
  auto& partial = table.ints("by_similarity", Unit::count);
  auto& mismatched = table.ints("mismatched", Unit::count);
  auto& contradicting = table.ints("contradicting", Unit::count);
  for (std::uint32_t group = 0; group < counts.size(); ++group) {
    members.push_back(alignment.groups.members(group));
    name.push_back(alignment.groups.name(group));
    certain.push_back(counts[group].certain);
    by_order.push_back(counts[group].by_order);
    partial.push_back(counts[group].partial);
    mismatched.push_back(counts[group].mismatched);
    contradicting.push_back(counts[group].contradicting);
  }
  return table;
}

Table mismatches_of(const trace::Trace& trace, const Alignment& alignment) {
  constexpr std::string_view kWhat[] = {"another collective", "another size", "missing"};
  Table table{"Collectives that differ", Shape::table, {}};
  auto& group = table.texts("group");
  auto& sequence = table.ints("sequence", Unit::none, Role::key);
  auto& what = table.texts("what");
  auto& rank_a = table.ints("rank_a", Unit::none, Role::key);
  auto& rank_b = table.ints("rank_b", Unit::none, Role::key);
  auto& does_a = table.texts("a_does", Role::value);
  auto& does_b = table.texts("b_does", Role::value);
  const auto does = [&](const derive::Member& m) {
    const derive::CollectiveRow& row = alignment.rows[m.rank][m.row];
    return fmt::format("{} of {} bytes", derive::name_of(row.exchange), row.bytes);
  };
  for (const derive::Mismatch& m : alignment.matches.mismatches) {
    const bool missing = m.what == derive::Mismatch::What::missing;
    group.push_back(alignment.groups.name(m.group));
    sequence.push_back(m.sequence < 0 ? kNoInt : m.sequence);
    what.emplace_back(kWhat[static_cast<std::size_t>(m.what)]);
    rank_a.push_back(trace.ranks[m.a.rank].rank);
    rank_b.push_back(trace.ranks[m.b.rank].rank);
    does_a.push_back(does(m.a));
    does_b.push_back(missing ? "" : does(m.b));
  }
  return table;
}

/// "62 of 64 clocks are aligned, the worst within 7 µs (rank 13); …"
std::string summary_of(const trace::Trace& trace, const Alignment& alignment) {
  const RankClock* worst = nullptr;
  std::int64_t aligned = 0;
  std::string apart;
  for (std::size_t q = 0; q < alignment.clocks.size(); ++q) {
    const RankClock& clock = alignment.clocks[q];
    if (clock.state == ClockState::apart) {
      constexpr std::size_t kMax = 200;
      if (apart.size() < kMax)
        apart += fmt::format("; rank {} keeps its own clock: {}", trace.ranks[q].rank, clock.why);
      continue;
    }
    ++aligned;
    if (worst == nullptr || clock.fit.uncertainty_edge > worst->fit.uncertainty_edge) worst = &clock;
  }
  if (worst == nullptr)
    return fmt::format("None of {} clocks could be aligned{}.", trace.ranks.size(), apart);
  return fmt::format("{} of {} clocks are on one time line, the worst within {} (rank {}){}.", aligned,
                     trace.ranks.size(), report::format_value(whole(worst->fit.uncertainty_edge), Unit::ns),
                     trace.ranks[static_cast<std::size_t>(worst - alignment.clocks.data())].rank, apart);
}

void note_mismatches(const Alignment& alignment, report::Report& report) {
  const std::vector<derive::Mismatch>& all = alignment.matches.mismatches;
  const auto missing = std::count_if(all.begin(), all.end(), [](const derive::Mismatch& m) {
    return m.what == derive::Mismatch::What::missing;
  });
  const auto differ = static_cast<std::ptrdiff_t>(all.size()) - missing;
  const std::string_view least = all.size() >= derive::kMaxMismatches ? "At least " : "";
  if (differ > 0)
    report.notes.push_back(fmt::format(
        "{}{} collectives differ between ranks: a job that is out of step hangs or gives wrong sums.", least,
        differ));
  if (missing > 0)
    report.notes.push_back(
        fmt::format("{}{} collectives are recorded on some ranks of their group and not on others: records "
                    "were lost, or the job is out of step.",
                    least, missing));
}

}  // namespace

constinit const About clock_alignment_about = {{}, true, Needs::digests};

report::Report clock_alignment(const Derived& derived, const report::Params&) {
  const trace::Trace& trace = derived.trace();
  report::Report report{"clock_alignment", {}, {}};
  const bool alone = trace.ranks.size() < 2;
  const Alignment none;
  const Alignment& alignment = alone ? none : derived.alignment();
  report.notes = trace.doubts;
  report.notes.push_back(alone ? "Only one rank is open: name several files, or the folder that holds them."
                               : summary_of(trace, alignment));
  note_mismatches(alignment, report);
  report.tables.push_back(clocks_of(trace, alignment));
  report.tables.push_back(matches_of(alignment));
  if (!alignment.matches.mismatches.empty()) report.tables.push_back(mismatches_of(trace, alignment));
  return report;
}

}  // namespace stepscope::analyze
