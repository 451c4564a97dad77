// Prints the answer of `stragglers` as tables.
#include <utility>

#include "analyze/list.h"
#include "analyze/ranks/stragglers.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::StepPart;
using report::Role;
using report::Shape;
using report::Tag;
using report::Unit;
using timeline::Time;

const report::Sheet<SlowRank> kSlowSheet{
    "Stragglers",
    Shape::table,
    {{"rank", &SlowRank::rank, Unit::none, Tag::rank},
     {"when", +[](const SlowRank& s) { return s.when(); }},
     {"part", report::named<&SlowRank::part>, Role::value},
     {"also", +[](const SlowRank& s) { return std::string(s.also == s.part ? "" : name_of(s.also)); },
      Role::detail},
     {"time", +[](const SlowRank& s) { return s.of_part.own; }, Unit::ns, Role::detail},
     {"others_time", +[](const SlowRank& s) { return s.of_part.others; }, Unit::ns, Role::detail},
     {"apart", +[](const SlowRank& s) { return s.of_part.apart; }, Unit::ns, Role::detail},
     {"excess", &SlowRank::excess, Unit::ns},
     {"cost", &SlowRank::cost, Unit::ns},
     {"cost_low", &SlowRank::cost_low, Unit::ns, Role::detail},
     {"cost_high", &SlowRank::cost_high, Unit::ns, Role::detail},
     {"cost_by", report::named<&SlowRank::by>, Role::detail},
     {"z", &SlowRank::z, Unit::none}}};

template <std::size_t part>
std::int64_t time_of(const RankParts& of) {
  return of.parts[part];
}

template <std::size_t... part>
report::Sheet<RankParts> parts_sheet(std::string_view title, Shape shape, std::index_sequence<part...>) {
  return {title,
          shape,
          {{"rank", &RankParts::rank, Unit::none, Tag::rank},
           {derive::name_of(static_cast<StepPart>(part)), time_of<part>, Unit::ns, Tag::part}...}};
}

report::Sheet<RankParts> parts_sheet(std::string_view title, Shape shape) {
  return parts_sheet(title, shape, std::make_index_sequence<derive::kStepParts>());
}

report::Sheet<RankParts> mean_sheet() {
  report::Sheet<RankParts> sheet = parts_sheet("Average step of each rank", Shape::bars);
  sheet.fields.push_back({"total",
                          +[](const RankParts& of) {
                            Time whole = 0;
                            for (const Time part : of.parts) report::add_to(whole, part);
                            return whole;
                          },
                          Unit::ns, Tag::whole});
  return sheet;
}

const report::Sheet<RankWaits> kWaitSheet{"Waiting in collectives",
                                          Shape::table,
                                          {{"rank", &RankWaits::rank, Unit::none, Tag::rank},
                                           {"collectives", &RankWaits::collectives, Unit::count},
                                           {"last", &RankWaits::last, Unit::count},
                                           {"first", &RankWaits::first, Unit::count},
                                           {"wait", &RankWaits::wait, Unit::ns},
                                           {"waited", &RankWaits::waited, Unit::ns},
                                           {"total", &RankWaits::total, Unit::ns},
                                           {"wait_share", &RankWaits::wait_share, Unit::share, Role::share}}};

const report::Sheet<Imbalance> kImbalanceSheet{"Imbalance",
                                               Shape::table,
                                               {{"step", &Imbalance::step, Unit::ns},
                                                {"balanced", &Imbalance::balanced, Unit::ns},
                                                {"cost", &Imbalance::cost, Unit::ns},
                                                {"share", &Imbalance::share, Unit::share}}};

const report::Sheet<ShorterTransfers> kTransferSheet{
    "If transfers took less",
    Shape::table,
    {{"factor", &ShorterTransfers::factor, Unit::none, Role::key},
     {"step", &ShorterTransfers::step, Unit::ns},
     {"saving", &ShorterTransfers::saving, Unit::ns}}};

const report::Sheet<SlowKernels> kKernelSheet{"Kernels of stragglers",
                                              Shape::table,
                                              {{"rank", &SlowKernels::rank, Unit::none, Tag::rank},
                                               {"against", &SlowKernels::against, Unit::none},
                                               {"calls", &SlowKernels::calls, Unit::none},
                                               {"others_calls", &SlowKernels::others_calls, Unit::none},
                                               {"same_share", &SlowKernels::same, Unit::share},
                                               {"pace", &SlowKernels::pace, Unit::none},
                                               {"even_share", &SlowKernels::even, Unit::share}}};

}  // namespace

constinit const About stragglers_about = {{}, true, Needs::digests};

report::Report stragglers(const Derived& derived, const report::Params&) {
  Stragglers of = stragglers_of(derived);
  report::Report report{"stragglers", {}, std::move(of.notes)};
  const auto print = [&](const auto& sheet, const auto& rows) {
    report.tables.push_back(tabulate(sheet, rows, true));
  };
  print(kSlowSheet, of.slow);
  print(parts_sheet("Beyond the median rank, per step", Shape::table), of.beyond_median);
  print(kWaitSheet, of.waits);
  if (of.imbalance) print(kImbalanceSheet, std::vector{*of.imbalance});
  if (!of.shorter_transfers.empty()) print(kTransferSheet, of.shorter_transfers);
  if (!of.kernels.empty()) print(kKernelSheet, of.kernels);
  print(mean_sheet(), of.means);
  return report;
}

}  // namespace stepscope::analyze
