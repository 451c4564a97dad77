#include "analyze/ranks/communication.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/list.h"
#include "analyze/ranks/exposed_communication.h"
#include "report/sheet.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {
namespace {

using report::kNoInt;
using report::Role;
using report::Shape;
using report::Unit;
using timeline::Time;

constexpr std::string_view kModulesHow = "Record with with_stack=True (TorchScript: with_modules=True).";

std::string_view name_of(IssuePlace::Kind kind) {
  constexpr std::string_view kNames[] = {"module", "module, backward", "operator", "annotation",
                                         "not recorded"};
  return kNames[static_cast<std::size_t>(kind)];
}

ExposedTimes times_of(const Exposed& sum) {
  return {sum.collectives, sum.all(), sum.known > 0 ? sum.wait : kNoInt,
          sum.known > 0 ? sum.transfer : kNoInt, sum.unknown};
}

RankExposed exposed_on(const trace::Rank& rank, const RankCommunication& communication, const Exposed& sum) {
  Time running = 0;
  for (const RankCommunication::Device& device : communication.devices)
    report::add_to(running, device.running.length());
  return {times_of(sum), rank.rank, running, report::ratio(running - sum.all(), running),
          sum.known > 0 ? report::ratio(sum.moving - sum.transfer, sum.moving) : report::kNoReal};
}

struct OfPlace {
  Exposed sum;
  std::int64_t ranks = 0;
};
using Places = std::map<IssuePlace, OfPlace>;

std::vector<PlaceExposed> most_exposed_first(const Places& places) {
  std::vector<PlaceExposed> out;
  Time all = 0;
  for (const auto& [place, of] : places) {
    out.push_back({times_of(of.sum), place, of.ranks, 0});
    report::add_to(all, of.sum.all());
  }
  for (PlaceExposed& place : out) place.share = report::ratio(place.exposed, all);
  std::stable_sort(out.begin(), out.end(),
                   [](const PlaceExposed& a, const PlaceExposed& b) { return a.exposed > b.exposed; });
  return out;
}

void note_what_is_known(std::vector<std::string>& notes, const std::vector<MatchedCollective>& matched,
                        const Exposed& all, bool alone) {
  const auto count = [](std::int64_t n) { return report::format_value(n, Unit::count); };
  const auto number = [&](auto is) { return std::count_if(matched.begin(), matched.end(), is); };
  if (alone) {
    notes.emplace_back(
        "Only one rank is open, so waiting for others looks like moving data: name several files, or the "
        "folder that holds them.");
    return;
  }
  const auto by_durations = number([](const MatchedCollective& c) {
    return c.time.skew != trace::kNoTime && c.time.error == trace::kNoTime;
  });
  if (by_durations > 0)
    notes.push_back(fmt::format(
        "Clocks are not known well enough in {} of {} matched collectives (`clock_alignment`): their skew is "
        "the longest minus the shortest duration, which is right if ranks leave together.",
        count(by_durations), count(std::ssize(matched))));
  if (const auto partly = number([](const MatchedCollective& c) { return !c.whole; }); partly > 0)
    notes.push_back(fmt::format(
        "{} matched collectives have ranks that are not open: waiting for those looks like moving data, so "
        "waits are lower bounds and transfers upper bounds.",
        count(partly)));
  if (all.known < all.collectives)
    notes.push_back(fmt::format(
        "The waits of {} of {} collectives are not known (no match on another rank, sends and receives, or a "
        "root that is not recorded): all their time counts as transfer, column `unknown`.",
        count(all.collectives - all.known), count(all.collectives)));
}

const report::Sheet<RankExposed> kRankSheet{
    "Exposed communication",
    Shape::table,
    {report::rank_field<RankExposed>(&RankExposed::rank),
     {"collectives", &RankExposed::collectives, Unit::count},
     {"communication", &RankExposed::communication, Unit::ns},
     {"exposed", &RankExposed::exposed, Unit::ns},
     {"exposed_wait", &RankExposed::exposed_wait, Unit::ns},
     {"exposed_transfer", &RankExposed::exposed_transfer, Unit::ns},
     {"unknown", &RankExposed::unknown, Unit::ns, Role::detail},
     {"overlap", &RankExposed::overlap, Unit::share},
     {"transfer_overlap", &RankExposed::transfer_overlap, Unit::share}}};

const report::Sheet<PlaceExposed> kIssuerSheet{
    "Exposed communication by module",
    Shape::table,
    {{"issued_by", +[](const PlaceExposed& p) { return p.place.name; }},
     {"kind", +[](const PlaceExposed& p) { return std::string(name_of(p.place.kind)); }},
     {"ranks", &PlaceExposed::ranks, Unit::count, Role::detail},
     {"collectives", &PlaceExposed::collectives, Unit::count},
     {"exposed", &PlaceExposed::exposed, Unit::ns},
     {"exposed_wait", &PlaceExposed::exposed_wait, Unit::ns},
     {"exposed_transfer", &PlaceExposed::exposed_transfer, Unit::ns},
     {"unknown", &PlaceExposed::unknown, Unit::ns, Role::detail},
     {"share", &PlaceExposed::share, Unit::share, Role::share}}};

}  // namespace

Communication communication_of(const Derived& derived) {
  const trace::Trace& trace = derived.trace();
  Communication out;
  const bool alone = trace.ranks.size() < 2;
  if (!alone) out.notes = trace.doubts;
  const derive::CollectiveTimes times = derive::collective_times(trace, derived.alignment());
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
    if (!of.devices.empty()) out.ranks.push_back(exposed_on(trace.ranks[r], of, sum));
    all.add(sum);
  }
  const std::vector<MatchedCollective> matched = matched_collectives(derived, times);
  if (const auto left_out = std::ssize(derived.alignment().contradicting); left_out > 0)
    out.notes.push_back(
        fmt::format("{} matched collectives are left out: one rank would have ended before another began, so "
                    "records are missing or matched wrongly (`clock_alignment`).",
                    report::format_value(left_out, Unit::count)));
  if (matched.empty() && places.empty())
    out.notes.emplace_back("No collective is recorded.");
  else
    note_what_is_known(out.notes, matched, all, alone);
  if (!places.empty() && !modules)
    out.notes.push_back(fmt::format(
        "No nn.Module is recorded, so exposed communication is grouped by operators and annotations. {}",
        kModulesHow));
  out.sizes = matched_sizes(matched);
  out.links = link_lines(matched);
  out.places = most_exposed_first(places);
  return out;
}

constinit const About communication_about = {{}, true, Needs::digests};

report::Report communication(const Derived& derived, const report::Params&) {
  const bool several = derived.trace().several();
  Communication of = communication_of(derived);
  report::Report report{"communication", {}, std::move(of.notes)};
  report.tables.push_back(tabulate(kMatchedSizeSheet, of.sizes, several));
  if (!of.links.empty()) report.tables.push_back(tabulate(kLinkSheet, of.links, several));
  report.tables.push_back(tabulate(kRankSheet, of.ranks, several));
  report.tables.push_back(tabulate(kIssuerSheet, of.places, several));
  return report;
}

}  // namespace stepscope::analyze
