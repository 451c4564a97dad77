// How far apart the clocks of the ranks are, how well that is known, and which collectives do not match.
#include "derive/ranks/clock_alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "report/sheet.h"
#include "report/units.h"

namespace stepscope::analyze {
namespace {

using derive::Alignment;
using derive::ClockState;
using derive::RankClock;
using report::kNoInt;
using report::Role;
using report::Shape;
using report::Table;
using report::Tag;
using report::Unit;

std::int64_t whole(double ns) { return std::isfinite(ns) ? std::llround(ns) : kNoInt; }

struct ClockRow {
  const trace::Rank& rank;
  const RankClock& clock;
  bool fitted() const { return clock.state != ClockState::apart; }
  std::int64_t offset() const {
    return fitted() ? clock.fit.map.shift + std::llround(clock.fit.map.offset) : kNoInt;
  }
  std::int64_t if_fitted(double error) const { return fitted() ? whole(error) : kNoInt; }
  std::int64_t if_shared(double residual) const { return clock.collectives > 0 ? whole(residual) : kNoInt; }
  std::int64_t if_bounded(std::int64_t shift) const { return clock.low <= clock.high ? shift : kNoInt; }
};

Table clocks_of(const trace::Trace& trace, const Alignment& alignment) {
  using C = ClockRow;
  static const report::Sheet<C> kClocks{
      "Clocks",
      Shape::table,
      {{"rank", +[](const C& c) { return c.rank.rank; }, Unit::none, Role::key},
       {"host", +[](const C& c) { return host_of(c.rank); }, Role::detail},
       {"state", +[](const C& c) { return std::string(name_of(c.clock.state)); }, Role::value},
       {"offset", +[](const C& c) { return c.offset(); }, Unit::ns},
       {"drift_ppm", +[](const C& c) { return c.fitted() ? c.clock.fit.map.drift * 1e6 : report::kNoReal; },
        Unit::none},
       {"error_middle", +[](const C& c) { return c.if_fitted(c.clock.fit.uncertainty_middle); }, Unit::ns},
       {"error_edge", +[](const C& c) { return c.if_fitted(c.clock.fit.uncertainty_edge); }, Unit::ns},
       {"component", +[](const C& c) { return std::int64_t{c.clock.fit.component}; }, Unit::none,
        Role::detail},
       {"collectives", +[](const C& c) { return std::int64_t{c.clock.collectives}; }, Unit::count},
       {"rejected", +[](const C& c) { return std::int64_t{c.clock.fit.rejected} + c.clock.contradicting; },
        Unit::count},
       {"residual_p50", +[](const C& c) { return c.if_shared(c.clock.fit.residual_median); }, Unit::ns},
       {"residual_p95", +[](const C& c) { return c.if_shared(c.clock.fit.residual_p95); }, Unit::ns,
        Role::detail},
       {"shift_low", +[](const C& c) { return c.if_bounded(c.clock.low); }, Unit::ns, Role::detail},
       {"shift_high", +[](const C& c) { return c.if_bounded(c.clock.high); }, Unit::ns, Role::detail},
       {"why", +[](const C& c) { return std::string(c.clock.why); }, Role::value}}};
  std::vector<C> rows;
  for (std::size_t q = 0; q < alignment.clocks.size(); ++q)
    rows.push_back({trace.ranks[q], alignment.clocks[q]});
  return tabulate(kClocks, rows, true);
}

/// Collectives of one process group.
struct GroupMatches {
  std::string ranks, group;
  std::int64_t certain = 0, by_order = 0, partial = 0, mismatched = 0, contradicting = 0;
};

Table matches_of(const Alignment& alignment) {
  using G = GroupMatches;
  static const report::Sheet<G> kMatches{"Collectives matched across ranks",
                                         Shape::table,
                                         {{"ranks", &G::ranks},
                                          {"group", &G::group},
                                          {"by_sequence", &G::certain, Unit::count},
                                          {"by_order", &G::by_order, Unit::count},
                                          {"by_similarity", &G::partial, Unit::count},
                                          {"mismatched", &G::mismatched, Unit::count},
                                          {"contradicting", &G::contradicting, Unit::count}}};
  std::vector<G> groups;
  for (std::uint32_t group = 0; group < alignment.groups.size(); ++group)
    groups.push_back({alignment.groups.members(group), alignment.groups.name(group)});
  for (const derive::Instance& instance : alignment.matches.instances) {
    G& of = groups[instance.group];
    ++(instance.match == derive::Match::certain    ? of.certain
       : instance.match == derive::Match::by_order ? of.by_order
                                                   : of.partial);
  }
  for (const derive::Mismatch& mismatch : alignment.matches.mismatches) ++groups[mismatch.group].mismatched;
  for (const std::uint32_t i : alignment.contradicting)
    ++groups[alignment.matches.instances[i].group].contradicting;
  return tabulate(kMatches, groups, true);
}

struct DifferRow {
  std::string group;
  std::int64_t sequence;
  derive::Mismatch::What what;
  std::int64_t rank_a, rank_b;
  std::string a_does, b_does;
};

std::string what_differs(const DifferRow& row) {
  constexpr std::string_view kWhat[] = {"another collective", "another size", "missing"};
  return std::string(kWhat[static_cast<std::size_t>(row.what)]);
}

Table mismatches_of(const trace::Trace& trace, const Alignment& alignment) {
  using D = DifferRow;
  static const report::Sheet<D> kDiffer{"Collectives that differ",
                                        Shape::table,
                                        {{"group", &D::group},
                                         {"sequence", &D::sequence, Unit::none, Tag::of_one_run},
                                         {"what", what_differs},
                                         {"rank_a", &D::rank_a, Unit::none, Role::key},
                                         {"rank_b", &D::rank_b, Unit::none, Role::key},
                                         {"a_does", &D::a_does, Role::value},
                                         {"b_does", &D::b_does, Role::value}}};
  const auto does = [&](const derive::Member& m) {
    const derive::CollectiveRow& row = alignment.rows[m.rank][m.row];
    return fmt::format("{} of {} bytes", derive::name_of(row.exchange), row.bytes);
  };
  std::vector<D> rows;
  for (const derive::Mismatch& m : alignment.matches.mismatches)
    rows.push_back({alignment.groups.name(m.group), m.sequence < 0 ? kNoInt : m.sequence, m.what,
                    trace.ranks[m.a.rank].rank, trace.ranks[m.b.rank].rank, does(m.a),
                    m.what == derive::Mismatch::What::missing ? "" : does(m.b)});
  return tabulate(kDiffer, rows, true);
}

/// "62 of 64 clocks are on one time line, the worst within 7 µs (rank 13); …"
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

/// Names the clock that leaves its line furthest: the others' residuals show a part of it.
void note_bend(const trace::Trace& trace, const Alignment& alignment, report::Report& report) {
  const RankClock* worst = nullptr;
  for (const RankClock& clock : alignment.clocks)
    if (clock.state != ClockState::apart && clock.fit.bend > (worst == nullptr ? 0 : worst->fit.bend))
      worst = &clock;
  if (worst == nullptr) return;
  report.notes.push_back(fmt::format(
      "The clock of rank {} does not run evenly: it leaves its line by up to {}, so that the errors are "
      "larger. Temperature does that, or a time service that corrects the clock. Shorter recordings "
      "are aligned more exactly.",
      trace.ranks[static_cast<std::size_t>(worst - alignment.clocks.data())].rank,
      report::format_value(whole(worst->fit.bend), Unit::ns)));
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
  note_bend(trace, alignment, report);
  note_mismatches(alignment, report);
  report.tables.push_back(clocks_of(trace, alignment));
  report.tables.push_back(matches_of(alignment));
  if (!alignment.matches.mismatches.empty()) report.tables.push_back(mismatches_of(trace, alignment));
  return report;
}

}  // namespace stepscope::analyze
