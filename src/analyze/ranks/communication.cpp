// How long ranks wait for each other in collectives, how fast data moves, and which modules wait for either.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/ranks/collective_sizes.h"
#include "analyze/ranks/exposed_communication.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {
namespace {

using report::kNoInt;
using report::Role;
using report::Shape;
using report::Table;
using report::Unit;
using timeline::Time;

constexpr std::string_view kModulesHow = "Record with with_stack=True (TorchScript: with_modules=True).";

std::string_view name_of(IssuePlace::Kind kind) {
  constexpr std::string_view kNames[] = {"module", "module, backward", "operator", "annotation",
                                         "not recorded"};
  return kNames[static_cast<std::size_t>(kind)];
}

struct RankTable {
  explicit RankTable(const trace::Trace& trace) : rank(table, trace) {}

  void add(const trace::Rank& of, const RankCommunication& communication, const Exposed& sum) {
    Time running = 0;
    for (const RankCommunication::Device& device : communication.devices)
      report::add_to(running, device.running.length());
    const bool known = sum.known > 0;
    rank.add(of);
    collectives.push_back(sum.collectives);
    total.push_back(running);
    exposed.push_back(sum.all());
    wait.push_back(known ? sum.wait : kNoInt);
    transfer.push_back(known ? sum.transfer : kNoInt);
    unknown.push_back(sum.unknown);
    overlap.push_back(report::ratio(running - sum.all(), running));
    transfer_overlap.push_back(known ? report::ratio(sum.moving - sum.transfer, sum.moving)
                                     : report::kNoReal);
  }

  Table table{"Exposed communication", Shape::table, {}};
  RankColumn rank;
  report::Ints& collectives = table.ints("collectives", Unit::count);
  report::Ints& total = table.ints("communication", Unit::ns);
  report::Ints& exposed = table.ints("exposed", Unit::ns);
  report::Ints& wait = table.ints("exposed_wait", Unit::ns);
  report::Ints& transfer = table.ints("exposed_transfer", Unit::ns);
  report::Ints& unknown = table.ints("unknown", Unit::ns, Role::detail);
  report::Reals& overlap = table.reals("overlap", Unit::share);
  report::Reals& transfer_overlap = table.reals("transfer_overlap", Unit::share);
};

struct OfPlace {
  Exposed sum;
  std::int64_t ranks = 0;
};
using Places = std::map<IssuePlace, OfPlace>;

Table place_table(const Places& places) {
  Table table{"Exposed communication by module", Shape::table, {}};
  auto& name = table.texts("issued_by");
  auto& kind = table.texts("kind");
  auto& ranks = table.ints("ranks", Unit::count, Role::detail);
  auto& collectives = table.ints("collectives", Unit::count);
  auto& exposed = table.ints("exposed", Unit::ns);
  auto& wait = table.ints("exposed_wait", Unit::ns);
  auto& transfer = table.ints("exposed_transfer", Unit::ns);
  auto& unknown = table.ints("unknown", Unit::ns, Role::detail);
  auto& share = table.reals("share", Unit::share, Role::share);
  std::vector<const Places::value_type*> order;
  Time all = 0;
  for (const auto& place : places) {
    order.push_back(&place);
    report::add_to(all, place.second.sum.all());
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->second.sum.all() > b->second.sum.all(); });
  for (const auto* place : order) {
    const Exposed& sum = place->second.sum;
    name.push_back(place->first.name);
    kind.emplace_back(name_of(place->first.kind));
    ranks.push_back(place->second.ranks);
    collectives.push_back(sum.collectives);
    exposed.push_back(sum.all());
    wait.push_back(sum.known > 0 ? sum.wait : kNoInt);
    transfer.push_back(sum.known > 0 ? sum.transfer : kNoInt);
    unknown.push_back(sum.unknown);
    share.push_back(report::ratio(sum.all(), all));
  }
  return table;
}

void note_what_is_known(report::Report& report, const std::vector<MatchedCollective>& matched,
                        const Exposed& all, bool alone) {
  const auto count = [](std::int64_t n) { return report::format_value(n, Unit::count); };
  const auto number = [&](auto is) { return std::count_if(matched.begin(), matched.end(), is); };
  if (alone) {
    report.notes.emplace_back(
        "Only one rank is open, so waiting for others cannot be told from moving data: name several files, "
        "or the folder that holds them.");
    return;
  }
  const auto by_durations = number([](const MatchedCollective& c) {
    return c.time.skew != trace::kNoTime && c.time.error == trace::kNoTime;
  });
  if (by_durations > 0)
    report.notes.push_back(fmt::format(
        "Clocks are not known well enough in {} of {} matched collectives (`clock_alignment`): their skew is "
        "the longest minus the shortest duration, right as far as ranks leave together.",
        count(by_durations), count(std::ssize(matched))));
  if (const auto partly = number([](const MatchedCollective& c) { return !c.whole; }); partly > 0)
    report.notes.push_back(fmt::format(
        "{} matched collectives have ranks that are not open: those who wait for them seem to move data, so "
        "waits are at least, transfers at most, what is shown.",
        count(partly)));
  if (all.known < all.collectives)
    report.notes.push_back(fmt::format(
        "Of {} of {} collectives nobody knows how long they waited (no match on another rank, sends and "
        "receives, or a root that is not recorded): all their time counts as transfer, column `unknown`.",
        count(all.collectives - all.known), count(all.collectives)));
}

}  // namespace

constinit const About communication_about = {{}, true, Needs::digests};

report::Report communication(const Derived& derived, const report::Params&) {
  const trace::Trace& trace = derived.trace();
  report::Report report{"communication", {}, {}};
  const bool alone = trace.ranks.size() < 2;
  if (!alone) report.notes = trace.doubts;
  const derive::CollectiveTimes times = derive::collective_times(trace, derived.alignment());
  RankTable ranks(trace);
  Places places;
  Exposed all;
  bool modules = false;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const RankCommunication& of = derived.communication(trace.ranks[r]);
    const std::vector<Exposed> parts =
        exposed_by_place(of, trace.ranks[r], derived.collectives().rows[r], times.wait[r]);
    Exposed sum;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      sum.add(parts[p]);
      if (parts[p].collectives == 0 && parts[p].all() == 0) continue;
      OfPlace& place = places[of.places[p]];
      place.sum.add(parts[p]);
      ++place.ranks;
    }
    modules = modules || of.modules;
    if (!of.devices.empty()) ranks.add(trace.ranks[r], of, sum);
    all.add(sum);
  }
  const std::vector<MatchedCollective> matched = matched_collectives(derived, times);
  if (const auto left_out = std::ssize(derived.alignment().contradicting); left_out > 0)
    report.notes.push_back(
        fmt::format("{} matched collectives are left out: one rank would have ended before another began, so "
                    "some of them were not recorded or belong elsewhere (`clock_alignment`).",
                    report::format_value(left_out, Unit::count)));
  if (matched.empty() && places.empty())
    report.notes.emplace_back("No collective is recorded.");
  else
    note_what_is_known(report, matched, all, alone);
  if (!places.empty() && !modules)
    report.notes.push_back(fmt::format(
        "No nn.Module is recorded, so exposed communication is told by operators and annotations. {}",
        kModulesHow));
  report.tables.push_back(size_table(matched));
  if (Table latency = latency_table(matched); latency.rows() > 0) report.tables.push_back(std::move(latency));
  report.tables.push_back(std::move(ranks.table));
  report.tables.push_back(place_table(places));
  return report;
}

}  // namespace stepscope::analyze
