#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "analyze/tb/tree.h"
#include "analyze/tb/window.h"
#include "base/key_hash.h"
#include "report/sheet.h"

namespace stepscope::analyze::tb {
namespace {

using report::Unit;

/// A launch of a kernel, the name of the node that it is charged to, and how often the plugin counts it.
struct Launch {
  Row row;
  std::string_view op;
  bool op_eligible = false;
  std::int64_t times = 1;
};

/// Launches with equal keys are launches of one kernel.
struct KernelKey {
  trace::StringId name;
  std::string_view op;
  trace::StringId grid, block;
  std::int64_t registers, shared_memory;
  friend bool operator==(const KernelKey&, const KernelKey&) = default;
};

struct KeyHash {
  std::size_t operator()(const KernelKey& key) const {
    const HashSeed seed = process_hash_seed();
    return hash_of_all(seed, hash_of(key.op, seed), key.name, key.grid, key.block, key.registers,
                       key.shared_memory);
  }
};

/// Launches of one kernel, times in ns.
struct KernelSum {
  std::int64_t rank;
  std::string_view name, op, grid, block;
  std::int64_t registers, shared_memory;
  bool tensor_cores, op_eligible;
  std::int64_t count = 0, total = 0, min = std::numeric_limits<std::int64_t>::max(), max = 0;
  /// Means weighted by time; `occupancy` is a share. A kernel without the value counts as 0.
  double blocks = 0, occupancy = 0;
};

std::int64_t product(std::int64_t time, std::int64_t times) {
  std::int64_t all = 0;
  return __builtin_mul_overflow(time, times, &all) ? std::numeric_limits<std::int64_t>::max() : all;
}

std::vector<Launch> all_kernels(const Events& events) {
  std::vector<Launch> launches;
  for (const Row row : events.order)
    if (events.type[row] == Type::kernel) launches.push_back({row, {}});
  return launches;
}

/// The plugin's operator name for kernels without an operator.
constexpr std::string_view kRootName = "CallTreeRoot";

/// Kernels reachable from the call trees. A kernel that no runtime call launched counts in each tree with
/// step marks.
std::vector<Launch> kernels_of_nodes(const Forest& forest) {
  const Events& events = forest.events;
  std::vector<Launch> launches;
  for (const NodeId id : forest.preorder()) {
    const Node& node = forest.nodes[id];
    const std::string_view op = node.row == trace::kNoRow ? kRootName : events.name(node.row);
    const bool eligible = node.row != trace::kNoRow && events.is(node.row, kTensorCoreOp);
    forest.each_own_kernel(node, [&](Row row) { launches.push_back({row, op, eligible}); });
  }
  const auto takers = std::count(forest.takes_stale.begin(), forest.takes_stale.end(), true);
  if (takers > 0)
    for (const Row row : forest.links.stale_kernels) launches.push_back({row, kRootName, false, takers});
  return launches;
}

/// Longest total first.
void sort_by_total(std::vector<KernelSum>& sums) {
  const auto key = [](const KernelSum& s) {
    return std::tie(s.name, s.op, s.grid, s.block, s.registers, s.shared_memory);
  };
  std::sort(sums.begin(), sums.end(), [&](const KernelSum& a, const KernelSum& b) {
    return a.total != b.total ? a.total > b.total : key(a) < key(b);
  });
}

std::vector<KernelSum> kernel_sums(const Events& events, const std::vector<Launch>& launches,
                                   bool by_properties) {
  const trace::Trace& trace = events.trace;
  const trace::ArgReader blocks(trace, events.rank, "blocks per SM"),
      occupancy(trace, events.rank, "est. achieved occupancy %"), grid(trace, events.rank, "grid"),
      block(trace, events.rank, "block"), registers(trace, events.rank, "registers per thread"),
      shared(trace, events.rank, "shared memory");
  std::vector<KernelSum> sums;
  bool blocks_recorded = false, occupancy_recorded = false;
  std::unordered_map<KernelKey, std::size_t, KeyHash> index;
  for (const Launch& launch : launches) {
    const Row row = launch.row;
    KernelKey key{events.rank.events.name[row], {}, 0, 0, 0, 0};
    if (by_properties)
      key = {key.name,
             launch.op,
             grid.id(row),
             block.id(row),
             registers.integer_or(row, report::kNoInt),
             shared.integer_or(row, report::kNoInt)};
    const auto [at, added] = index.try_emplace(key, sums.size());
    if (added)
      sums.push_back({events.rank.rank, trace.text(key.name), key.op, trace.text(key.grid),
                      trace.text(key.block), key.registers, key.shared_memory,
                      events.is(row, kTensorCoreKernel), launch.op_eligible});
    KernelSum& sum = sums[at->second];
    const std::int64_t time = events.rank.events.duration(row);
    sum.count += launch.times;
    add_to(sum.total, product(time, launch.times));
    sum.min = std::min(sum.min, time);
    sum.max = std::max(sum.max, time);
    const std::optional<double> on_sm = blocks.real(row), occupied = occupancy.real(row);
    const double weight = static_cast<double>(time) * static_cast<double>(launch.times);
    sum.blocks += on_sm.value_or(0) * weight;
    sum.occupancy += occupied.value_or(0) * weight;
    blocks_recorded |= on_sm.has_value();
    occupancy_recorded |= occupied.has_value();
  }
  const auto mean = [](bool recorded, double weighted, std::int64_t total) {
    return !recorded ? report::kNoReal : total > 0 ? weighted / static_cast<double>(total) : 0.0;
  };
  for (KernelSum& sum : sums) {
    sum.blocks = mean(blocks_recorded, sum.blocks, sum.total);
    sum.occupancy = mean(occupancy_recorded, sum.occupancy / 100.0, sum.total);
  }
  sort_by_total(sums);
  return sums;
}

template <bool KernelSum::* member>
std::string yes_or_no(const KernelSum& sum) {
  return sum.*member ? "yes" : "no";
}

report::Sheet<KernelSum> sheet_of(bool by_properties) {
  using Sum = KernelSum;
  report::Sheet<Sum> sheet{"Kernels as the TensorBoard plugin sums them",
                           report::Shape::table,
                           {report::rank_field<Sum>(&Sum::rank), {"name", &Sum::name}}};
  const report::Field<Sum> properties[] = {
      {"op", &Sum::op},
      {"grid", &Sum::grid},
      {"block", &Sum::block},
      {"registers", &Sum::registers, Unit::count, report::Role::key},
      {"shared_memory", &Sum::shared_memory, Unit::bytes, report::Role::key},
      {"op_tc_eligible", yes_or_no<&Sum::op_eligible>, report::Role::detail}};
  if (by_properties) sheet.fields.insert(sheet.fields.end(), std::begin(properties), std::end(properties));
  const report::Field<Sum> sums[] = {
      {"count", &Sum::count, Unit::count},
      {"total", &Sum::total, Unit::ns},
      {"mean", [](const Sum& sum) { return report::mean(sum.total, sum.count); }, Unit::ns},
      {"min", &Sum::min, Unit::ns},
      {"max", &Sum::max, Unit::ns},
      {"blocks_per_sm", &Sum::blocks, Unit::none},
      {"occupancy", &Sum::occupancy, Unit::share},
      {"tensor_cores", yes_or_no<&Sum::tensor_cores>, report::Role::detail}};
  sheet.fields.insert(sheet.fields.end(), std::begin(sums), std::end(sums));
  return sheet;
}

}  // namespace

report::Report kernels(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  const bool by_properties = params.text("group", "name") == "properties";
  std::vector<KernelSum> rows;
  for (const trace::Rank& rank : trace.ranks) {
    const Events events(trace, rank);
    const std::vector<KernelSum> sums = kernel_sums(
        events, by_properties ? kernels_of_nodes(Forest(events)) : all_kernels(events), by_properties);
    rows.insert(rows.end(), sums.begin(), sums.end());
  }
  report::Report report{"kernels", {tabulate(sheet_of(by_properties), rows, trace.several())}, {}};
  if (rows.empty())
    report.notes.push_back(
        "No kernel was recorded. Record with ProfilerActivity.CUDA (or the device's own activity) to see "
        "kernels.");
  note_step_choice(params, report);
  return report;
}

}  // namespace stepscope::analyze::tb
