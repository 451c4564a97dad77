#include "analyze/kernels/kernels.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "analyze/derived.h"
#include "analyze/kernels/element_chains.h"
#include "analyze/list.h"
#include "derive/kernel_class.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::MatrixCores;
using report::Role;
using report::Shape;
using report::Unit;
using trace::Rank;

constexpr std::string_view kNoKernels =
    "No kernel is recorded. Record with ProfilerActivity.CUDA (or XPU, MTIA …) and CPU.";
constexpr std::string_view kNoFill =
    "blocks_per_sm and occupancy are empty: the recorder of this device does not write them (CUDA does).";

/// "[ 132,\n 1, 1 ]" → "[132, 1, 1]".
std::string on_one_line(std::string_view list) {
  std::string out;
  for (const char c : list) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    out += c;
    if (c == ',') out += ' ';
  }
  return out;
}

KernelTimes times_of(const trace::Trace& trace, const Rank& rank, KernelGroup& group, std::int64_t of_all,
                     const derive::KernelSetting& setting) {
  const std::string_view name = trace.text(group.key.name);
  const auto [least, most] = std::minmax_element(group.durations.begin(), group.durations.end());
  const std::int64_t shortest = *least, longest = *most;  // quantile() reorders durations
  return {rank.rank,
          std::string(name),
          std::string(trace.text(group.key.op)),
          on_one_line(trace.text(group.key.grid)),
          on_one_line(trace.text(group.key.block)),
          group.key.registers,
          group.key.shared_memory,
          group.count(),
          group.total,
          report::ratio(group.total, of_all),
          report::mean(group.total, group.count()),
          report::quantile(group.durations, 0.50),
          report::quantile(group.durations, 0.95),
          shortest,
          longest,
          group.blocks_per_sm.mean(),
          group.occupancy.mean(),
          derive::matrix_cores_of(name, setting).cores,
          derive::is_collective_kernel(name)};
}

/// "yes", "no", or "" if the kernel's name does not decide it.
std::string matrix_cores_text(const KernelTimes& of) {
  return of.matrix_cores == MatrixCores::yes ? "yes" : of.matrix_cores == MatrixCores::no ? "no" : "";
}

report::Sheet<KernelTimes> kernel_sheet(KernelsBy by) {
  using K = KernelTimes;
  report::Sheet<K> sheet{
      "Kernels by name", Shape::table, {report::rank_field<K>(&K::rank), {"name", &K::name}}};
  const auto add = [&](std::initializer_list<report::Field<K>> fields) {
    sheet.fields.insert(sheet.fields.end(), fields);
  };
  if (by == KernelsBy::properties) {
    sheet.title = "Kernels by launch properties";
    add({{"op", &K::op},
         {"grid", &K::grid},
         {"block", &K::block},
         {"registers", &K::registers, Unit::count, Role::key},
         {"shared_memory", &K::shared_memory, Unit::bytes, Role::key}});
  }
  add({{"count", &K::count, Unit::count},
       {"total", &K::total, Unit::ns},
       {"share", &K::share, Unit::share, Role::share},
       {"mean", &K::mean, Unit::ns},
       {"p50", &K::p50, Unit::ns},
       {"p95", &K::p95, Unit::ns},
       {"min", &K::min, Unit::ns},
       {"max", &K::max, Unit::ns},
       {"blocks_per_sm", &K::blocks_per_sm, Unit::none},
       {"occupancy", &K::occupancy, Unit::share},
       {"tensor_cores", &matrix_cores_text, Role::detail},
       {"work", +[](const K& of) { return std::string(of.communication ? "communication" : "compute"); },
        Role::detail}});
  return sheet;
}

void add_shorts(std::vector<ShortKernels>& shorts, const Rank& rank, const std::vector<KernelGroup>& groups,
                std::int64_t time) {
  constexpr std::int64_t kShort[] = {2'000, 5'000, 10'000, 20'000};
  std::int64_t kernels = 0;
  for (const KernelGroup& group : groups) kernels += group.count();
  if (kernels == 0) return;
  for (const std::int64_t limit : kShort) {
    std::int64_t count = 0, total = 0;
    for (const KernelGroup& group : groups)
      for (const std::int64_t duration : group.durations)
        if (duration < limit) ++count, report::add_to(total, duration);
    shorts.push_back(
        {rank.rank, limit, count, report::ratio(count, kernels), total, report::ratio(total, time)});
  }
}

const report::Sheet<ShortKernels> kShortSheet{
    "Short kernels",
    Shape::table,
    {report::rank_field<ShortKernels>(&ShortKernels::rank),
     {"below", &ShortKernels::below, Unit::ns, Role::key},
     {"count", &ShortKernels::count, Unit::count},
     {"share", &ShortKernels::share, Unit::share, Role::share},
     {"total", &ShortKernels::total, Unit::ns},
     {"time_share", &ShortKernels::time_share, Unit::share, Role::share}}};

/// Longest total first.
void add_kinds(std::vector<KernelKindTimes>& kinds, const trace::Trace& trace, const Rank& rank,
               const std::vector<KernelGroup>& groups, const ChainedTime& chains) {
  struct Sum {
    std::int64_t count = 0, total = 0, small = 0;
    double with_grid = 0;
  };
  std::array<Sum, derive::kKernelKinds> sums;
  std::int64_t all = 0;
  for (const KernelGroup& group : groups) {
    const std::string_view name = trace.text(group.key.name);
    if (derive::is_collective_kernel(name)) continue;
    Sum& sum = sums[static_cast<std::size_t>(derive::kernel_kind(name))];
    sum.count += group.count();
    sum.with_grid += group.blocks_per_sm.weight;
    report::add_to(sum.total, group.total);
    report::add_to(sum.small, group.small);
    report::add_to(all, group.total);
  }
  std::array<std::size_t, derive::kKernelKinds> order;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sums[a].total > sums[b].total; });
  for (const std::size_t k : order) {
    const Sum& sum = sums[k];
    if (sum.count == 0) continue;
    kinds.push_back({rank.rank, static_cast<derive::KernelKind>(k), sum.count, sum.total,
                     report::ratio(sum.total, all),
                     sum.with_grid > 0 ? report::ratio(sum.small, sum.total) : report::kNoReal,
                     report::ratio(chains[k], sum.total)});
  }
}

const report::Sheet<KernelKindTimes> kKindSheet{
    "Kinds of compute kernels",
    Shape::bars,
    {report::rank_field<KernelKindTimes>(&KernelKindTimes::rank),
     {"kind", report::named<&KernelKindTimes::kind>},
     {"count", &KernelKindTimes::count, Unit::count},
     {"total", &KernelKindTimes::total, Unit::ns},
     {"share", &KernelKindTimes::share, Unit::share, Role::share},
     {"small_grid_share", &KernelKindTimes::small, Unit::share, Role::detail},
     {"chained_share", &KernelKindTimes::chained, Unit::share, Role::detail}}};

/// Returns whether any kernel records how it fills the device.
bool add_kernels(Kernels& of, const trace::Trace& trace, const Rank& rank, const StepChoice& choice,
                 KernelsBy by) {
  std::vector<KernelGroup> groups = kernel_groups(trace, rank, choice, by);
  std::int64_t total = 0;
  for (const KernelGroup& group : groups) report::add_to(total, group.total);
  add_shorts(of.shorts, rank, groups, total);
  add_kinds(of.kinds, trace, rank, groups, chained_time(trace, rank, choice));
  derive::KernelSetting setting;
  if (!rank.devices.empty()) setting = derive::setting_of(rank.devices.front());
  bool fill = false;
  for (KernelGroup& group : groups) {
    fill |= group.blocks_per_sm.weight > 0 || group.occupancy.weight > 0;
    of.kernels.push_back(times_of(trace, rank, group, total, setting));
  }
  return fill;
}

}  // namespace

Kernels kernels_of(const trace::Trace& trace, const StepChoice& choice, KernelsBy by) {
  Kernels of;
  bool fill = false;
  for (const Rank& rank : trace.ranks) {
    fill |= add_kernels(of, trace, rank, choice, by);
    add_named_copies(of.copies, trace, rank, choice);
    add_low_occupancy(of.low_occupancy, trace, rank, choice);
    add_kernel_drift(of.drift, trace, rank);
    add_recomputed_work(of.recomputed, trace, rank, choice);
    add_conv_setup(of.convolutions, trace, rank, choice);
  }
  if (of.kernels.empty())
    of.notes.emplace_back(kNoKernels);
  else if (!fill)
    of.notes.emplace_back(kNoFill);
  return of;
}

constexpr report::ParamSpec kKernelsParams[] = {
    {"group", report::ParamSpec::Type::choice, "name", "name|properties",
     "one row per kernel name, or per name, op and launch properties"}};

constinit const About kernels_about = {kKernelsParams};

report::Report kernels(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  const bool several = trace.several();
  const KernelsBy by = params.text("group") == "properties" ? KernelsBy::properties : KernelsBy::name;
  Kernels of = kernels_of(trace, StepChoice(params), by);
  report::Report report{
      "kernels",
      {tabulate(kernel_sheet(by), of.kernels, several), tabulate(kShortSheet, of.shorts, several),
       tabulate(kNamedCopiesSheet, of.copies, several), tabulate(kKindSheet, of.kinds, several)},
      std::move(of.notes)};
  for (report::Table& table : std::array{tabulate(kLowOccupancySheet, of.low_occupancy, several),
                                         tabulate(kKernelDriftSheet, of.drift, several),
                                         tabulate(kRecomputedWorkSheet, of.recomputed, several),
                                         tabulate(kConvSetupSheet, of.convolutions, several)})
    if (table.rows() > 0) report.tables.push_back(std::move(table));
  return report;
}

}  // namespace stepscope::analyze
