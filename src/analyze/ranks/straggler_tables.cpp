// How the answer about stragglers prints.
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
using report::Unit;
using timeline::Time;

const report::Sheet<SlowRank>& slow_sheet() {
  using S = SlowRank;
  static const report::Sheet<S> kSlow{
      "Stragglers",
      Shape::table,
      {{"rank", &S::rank, Unit::none, Role::key},
       {"when", +[](const S& s) { return s.when(); }},
       {"part", report::named<&S::part>, Role::value},
       {"also", +[](const S& s) { return std::string(s.also == s.part ? "" : name_of(s.also)); },
        Role::detail},
       {"time", +[](const S& s) { return s.of_part.own; }, Unit::ns, Role::detail},
       {"others_time", +[](const S& s) { return s.of_part.others; }, Unit::ns, Role::detail},
       {"apart", +[](const S& s) { return s.of_part.apart; }, Unit::ns, Role::detail},
       {"excess", &S::excess, Unit::ns},
       {"cost", &S::cost, Unit::ns},
       {"cost_low", &S::cost_low, Unit::ns, Role::detail},
       {"cost_high", &S::cost_high, Unit::ns, Role::detail},
       {"cost_by", report::named<&S::by>, Role::detail},
       {"z", &S::z, Unit::none}}};
  return kSlow;
}

template <std::size_t part>
std::int64_t time_of(const RankParts& of) {
  return of.parts[part];
}

template <std::size_t... part>
report::Sheet<RankParts> parts_sheet(std::string_view title, Shape shape, std::index_sequence<part...>) {
  return {title,
          shape,
          {{"rank", &RankParts::rank, Unit::none, Role::key},
           {derive::name_of(static_cast<StepPart>(part)), time_of<part>, Unit::ns}...}};
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
                          Unit::ns});
  return sheet;
}

const report::Sheet<RankWaits>& wait_sheet() {
  using W = RankWaits;
  static const report::Sheet<W> kWaits{"Waiting in collectives",
                                       Shape::table,
                                       {{"rank", &W::rank, Unit::none, Role::key},
                                        {"collectives", &W::collectives, Unit::count},
                                        {"last", &W::last, Unit::count},
                                        {"first", &W::first, Unit::count},
                                        {"wait", &W::wait, Unit::ns},
                                        {"waited", &W::waited, Unit::ns},
                                        {"total", &W::total, Unit::ns},
                                        {"wait_share", &W::wait_share, Unit::share, Role::share}}};
  return kWaits;
}

const report::Sheet<Imbalance>& imbalance_sheet() {
  using I = Imbalance;
  static const report::Sheet<I> kImbalance{"Imbalance",
                                           Shape::table,
                                           {{"step", &I::step, Unit::ns},
                                            {"balanced", &I::balanced, Unit::ns},
                                            {"cost", &I::cost, Unit::ns},
                                            {"share", &I::share, Unit::share}}};
  return kImbalance;
}

const report::Sheet<ShorterTransfers>& transfer_sheet() {
  using T = ShorterTransfers;
  static const report::Sheet<T> kTransfers{"If transfers took less",
                                           Shape::table,
                                           {{"factor", &T::factor, Unit::none, Role::key},
                                            {"step", &T::step, Unit::ns},
                                            {"saving", &T::saving, Unit::ns}}};
  return kTransfers;
}

const report::Sheet<SlowKernels>& kernel_sheet() {
  using K = SlowKernels;
  static const report::Sheet<K> kKernels{"Kernels of stragglers",
                                         Shape::table,
                                         {{"rank", &K::rank, Unit::none, Role::key},
                                          {"against", &K::against, Unit::none},
                                          {"calls", &K::calls, Unit::none},
                                          {"others_calls", &K::others_calls, Unit::none},
                                          {"same_share", &K::same, Unit::share},
                                          {"pace", &K::pace, Unit::none},
                                          {"even_share", &K::even, Unit::share}}};
  return kKernels;
}

}  // namespace

constinit const About stragglers_about = {{}, true, Needs::digests};

report::Report stragglers(const Derived& derived, const report::Params&) {
  Stragglers of = stragglers_of(derived);
  report::Report report{"stragglers", {}, std::move(of.notes)};
  const auto print = [&](const auto& sheet, const auto& rows) {
    report.tables.push_back(tabulate(sheet, rows, true));
  };
  print(slow_sheet(), of.slow);
  print(parts_sheet("Beyond the median rank, per step", Shape::table), of.beyond_median);
  print(wait_sheet(), of.waits);
  if (of.imbalance) print(imbalance_sheet(), std::vector{*of.imbalance});
  if (!of.shorter_transfers.empty()) print(transfer_sheet(), of.shorter_transfers);
  if (!of.kernels.empty()) print(kernel_sheet(), of.kernels);
  print(mean_sheet(), of.means);
  return report;
}

}  // namespace stepscope::analyze
