#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "analyze/tb/tree.h"
#include "analyze/tb/window.h"
#include "base/key_hash.h"

namespace stepscope::analyze::tb {
namespace {

/// A launch of a kernel, the name of the node that it is charged to, and how often the plugin counts it.
struct Launch {
  Row row;
  std::string_view op;
  bool op_eligible = false;
  std::int64_t times = 1;
};

/// What makes two launches the same kernel.
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

struct KernelSum {
  KernelKey key;
  bool tensor_cores, op_eligible;
  std::int64_t count = 0, total = 0, min = std::numeric_limits<std::int64_t>::max(), max = 0;
  double blocks = 0, occupancy = 0;  ///< Σ value · ns; a kernel without the value counts as 0
};

struct KernelSums {
  std::vector<KernelSum> sums;
  bool blocks_recorded = false, occupancy_recorded = false;
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

constexpr std::string_view kRootName =
    "CallTreeRoot";  // what the plugin's table shows for kernels of no operator

/// Kernels reachable from the call trees. What no runtime call launched hangs under each tree that has step
/// marks.
std::vector<Launch> kernels_of_nodes(const Forest& forest) {
  const Events& events = forest.events;
  std::vector<Launch> launches;
  for (const NodeId id : forest.preorder()) {
    const Node& node = forest.nodes[id];
    const std::string_view op = node.row == trace::kNoRow ? kRootName : events.name(node.row);
    const bool eligible = node.row != trace::kNoRow && events.is(node.row, kTensorCoreOp);
    for (std::uint32_t i = node.calls.begin; i < node.calls.end; ++i)
      for (const Row row : forest.links.launched(forest.links.calls[i]))
        if (events.type[row] == Type::kernel) launches.push_back({row, op, eligible});
  }
  const auto takers = std::count(forest.takes_stale.begin(), forest.takes_stale.end(), true);
  if (takers > 0)
    for (const Row row : forest.links.stale_kernels) launches.push_back({row, kRootName, false, takers});
  return launches;
}

KernelSums kernel_sums(const Events& events, const std::vector<Launch>& launches, bool by_properties) {
  const trace::ArgReader blocks(events.trace, events.rank, "blocks per SM"),
      occupancy(events.trace, events.rank, "est. achieved occupancy %");
  const trace::ArgReader grid(events.trace, events.rank, "grid"), block(events.trace, events.rank, "block");
  const trace::ArgReader registers(events.trace, events.rank, "registers per thread"),
      shared(events.trace, events.rank, "shared memory");
  KernelSums result;
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
    const auto [at, added] = index.try_emplace(key, result.sums.size());
    if (added) result.sums.push_back({key, events.is(row, kTensorCoreKernel), launch.op_eligible});
    KernelSum& sum = result.sums[at->second];
    const std::int64_t time = events.rank.events.duration(row);
    sum.count += launch.times;
    accumulate(sum.total, product(time, launch.times));
    sum.min = std::min(sum.min, time);
    sum.max = std::max(sum.max, time);
    const std::optional<double> on_sm = blocks.real(row), occupied = occupancy.real(row);
    const double weight = static_cast<double>(time) * static_cast<double>(launch.times);
    sum.blocks += on_sm.value_or(0) * weight;
    sum.occupancy += occupied.value_or(0) * weight;
    result.blocks_recorded |= on_sm.has_value();
    result.occupancy_recorded |= occupied.has_value();
  }
  return result;
}

void sort_by_total(std::vector<KernelSum>& sums, const trace::Trace& trace) {
  const auto text = [&](const KernelSum& s) {
    return std::tuple(trace.text(s.key.name), s.key.op, trace.text(s.key.grid), trace.text(s.key.block));
  };
  std::sort(sums.begin(), sums.end(), [&](const KernelSum& a, const KernelSum& b) {
    if (a.total != b.total) return a.total > b.total;
    if (const auto x = text(a), y = text(b); x != y) return x < y;
    return std::pair(a.key.registers, a.key.shared_memory) < std::pair(b.key.registers, b.key.shared_memory);
  });
}

}  // namespace

namespace {

using report::Unit;

/// The columns that only the grouping by properties has.
struct PropertyColumns {
  explicit PropertyColumns(report::Table& table)
      : op(table.texts("op")),
        grid(table.texts("grid")),
        block(table.texts("block")),
        registers(table.ints("registers", Unit::count, report::Role::key)),
        shared(table.ints("shared_memory", Unit::bytes, report::Role::key)),
        eligible(table.texts("op_tc_eligible", report::Role::detail)) {}
  void add(const KernelSum& sum, const trace::Trace& trace) {
    op.emplace_back(sum.key.op);
    grid.emplace_back(trace.text(sum.key.grid));
    block.emplace_back(trace.text(sum.key.block));
    registers.push_back(sum.key.registers);
    shared.push_back(sum.key.shared_memory);
    eligible.emplace_back(sum.op_eligible ? "yes" : "no");
  }
  report::Texts &op, &grid, &block;
  report::Ints &registers, &shared;
  report::Texts& eligible;
};

}  // namespace

report::Report kernels(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  const bool by_properties = params.text("group", "name") == "properties";
  report::Report report{"kernels", {}, {}};
  report::Table table{"Kernels as the TensorBoard plugin sums them", report::Shape::table, {}};
  RankColumn rank_column(table, trace);
  report::Texts& name = table.texts("name");
  std::optional<PropertyColumns> properties;
  if (by_properties) properties.emplace(table);
  report::Ints& count = table.ints("count", Unit::count);
  report::Ints& total = table.ints("total", Unit::ns);
  report::Ints& mean = table.ints("mean", Unit::ns);
  report::Ints& min = table.ints("min", Unit::ns);
  report::Ints& max = table.ints("max", Unit::ns);
  report::Reals& blocks = table.reals("blocks_per_sm", Unit::none);
  report::Reals& occupancy = table.reals("occupancy", Unit::share);
  report::Texts& tensor_cores = table.texts("tensor_cores", report::Role::detail);
  for (const trace::Rank& rank : trace.ranks) {
    const Events events(trace, rank);
    KernelSums kernels = by_properties ? kernel_sums(events, kernels_of_nodes(Forest(events)), true)
                                       : kernel_sums(events, all_kernels(events), false);
    sort_by_total(kernels.sums, trace);
    for (const KernelSum& sum : kernels.sums) {
      const auto weighted = [&](bool recorded, double value) {
        return !recorded ? report::kNoReal : sum.total > 0 ? value / static_cast<double>(sum.total) : 0.0;
      };
      rank_column.add(rank);
      name.emplace_back(trace.text(sum.key.name));
      if (properties) properties->add(sum, trace);
      count.push_back(sum.count);
      total.push_back(sum.total);
      mean.push_back(sum.total / sum.count + (sum.total % sum.count >= (sum.count + 1) / 2 ? 1 : 0));
      min.push_back(sum.min);
      max.push_back(sum.max);
      blocks.push_back(weighted(kernels.blocks_recorded, sum.blocks));
      occupancy.push_back(weighted(kernels.occupancy_recorded, sum.occupancy / 100.0));
      tensor_cores.emplace_back(sum.tensor_cores ? "yes" : "no");
    }
  }
  if (name.empty())
    report.notes.push_back(
        "No kernel was recorded. Record with ProfilerActivity.CUDA (or the device's own activity) to see "
        "kernels.");
  note_step_choice(params, report);
  report.tables.push_back(std::move(table));
  return report;
}

}  // namespace stepscope::analyze::tb
