// Which kernels the device ran, for how long and how well they fill it; below that, short kernels, and copies
// and fills.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>

#include "analyze/kernels/conv_setup.h"
#include "analyze/kernels/element_chains.h"
#include "analyze/kernels/kernel_drift.h"
#include "analyze/kernels/low_occupancy.h"
#include "analyze/kernels/recomputed_work.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "analyze/tb/tb.h"
#include "base/key_hash.h"
#include "derive/kernel_class.h"
#include "derive/kernel_kind.h"
#include "derive/roof/matrix_cores.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using report::kNoInt;
using report::kNoReal;
using report::Role;
using report::Shape;
using report::Unit;
using trace::ArgReader;
using trace::Kind;
using trace::Rank;
using trace::Row;
using trace::StringId;

constexpr std::string_view kNoKernels =
    "No kernel is recorded. Record with ProfilerActivity.CUDA (or XPU, MTIA …) beside CPU.";
constexpr std::string_view kNoFill =
    "blocks_per_sm and occupancy are empty: the recorder of this device does not write them (CUDA does).";

/// What makes two kernels one row. By name only, the others stay empty.
struct GroupKey {
  StringId name = trace::kEmptyString, op = trace::kEmptyString, grid = trace::kEmptyString,
           block = trace::kEmptyString;
  std::int64_t registers = kNoInt, shared_memory = kNoInt;
  friend bool operator==(const GroupKey&, const GroupKey&) = default;
};

struct GroupHash {
  std::size_t operator()(const GroupKey& key) const {
    return hash_of_all(process_hash_seed(), key.name, key.op, key.grid, key.block, key.registers,
                       key.shared_memory);
  }
};

/// Mean of a recorded arg over the events that have it, each weighted with its duration.
struct WeightedMean {
  double sum = 0, weight = 0;
  void add(std::optional<double> value, std::int64_t duration) {
    if (!value || !std::isfinite(*value) || *value < 0) return;
    sum += *value * static_cast<double>(duration);
    weight += static_cast<double>(duration);
  }
  double mean() const { return weight > 0 ? sum / weight : kNoReal; }
};

struct Group {
  GroupKey key;
  std::vector<std::int64_t> durations;
  std::int64_t total = 0, small = 0;  ///< ns; small: of kernels with fewer blocks than multiprocessors
  WeightedMean blocks_per_sm, occupancy;
};

class Groups {
 public:
  Groups(const trace::Trace& trace, const Rank& rank, bool by_properties)
      : trace_(trace),
        rank_(rank),
        by_properties_(by_properties),
        grid_(trace, rank, "grid"),
        block_(trace, rank, "block"),
        registers_(trace, rank, "registers per thread"),
        shared_memory_(trace, rank, "shared memory"),
        blocks_per_sm_(trace, rank, "blocks per SM"),
        occupancy_(trace, rank, "est. achieved occupancy %"),
        by_name_(trace.strings.size(), kUnseen) {}

  void add(Row row) {
    const std::int64_t duration = rank_.events.duration(row);
    Group& group = groups_[group_of(row)];
    group.durations.push_back(duration);
    report::add_to(group.total, duration);
    const std::optional<double> blocks = blocks_per_sm_.real(row);
    group.blocks_per_sm.add(blocks, duration);
    if (blocks && *blocks >= 0 && *blocks < 1) report::add_to(group.small, duration);
    std::optional<double> occupancy = occupancy_.real(row);
    if (occupancy) occupancy = std::min(*occupancy / 100, 1.0);
    group.occupancy.add(occupancy, duration);
  }

  /// Longest total first.
  std::vector<Group> sorted() && {
    std::sort(groups_.begin(), groups_.end(), [&](const Group& a, const Group& b) {
      if (a.total != b.total) return a.total > b.total;
      return texts(a.key) < texts(b.key);
    });
    return std::move(groups_);
  }

 private:
  static constexpr std::uint32_t kUnseen = 0xFFFFFFFF;
  using Texts = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view,
                           std::int64_t, std::int64_t>;

  Texts texts(const GroupKey& key) const {
    return {trace_.text(key.name),  trace_.text(key.op), trace_.text(key.grid),
            trace_.text(key.block), key.registers,       key.shared_memory};
  }

  std::uint32_t group_of(Row row) {
    GroupKey key{rank_.events.name[row]};
    std::uint32_t* slot = nullptr;
    if (by_properties_) {
      const Row op = rank_.events.op[row];
      key = {key.name,
             op == trace::kNoRow ? trace::kEmptyString : rank_.events.name[op],
             grid_.id(row),
             block_.id(row),
             registers_.integer_or(row, kNoInt),
             shared_memory_.integer_or(row, kNoInt)};
      slot = &by_key_.try_emplace(key, kUnseen).first->second;
    } else {
      slot = &by_name_[key.name];
    }
    if (*slot == kUnseen) {
      *slot = static_cast<std::uint32_t>(groups_.size());
      groups_.push_back({key, {}, 0, 0, {}, {}});
    }
    return *slot;
  }

  const trace::Trace& trace_;
  const Rank& rank_;
  bool by_properties_;
  ArgReader grid_, block_, registers_, shared_memory_, blocks_per_sm_, occupancy_;
  std::vector<std::uint32_t> by_name_;
  std::unordered_map<GroupKey, std::uint32_t, GroupHash> by_key_;
  std::vector<Group> groups_;
};

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

/// The device the rank drives; with several, the first: a rank's devices are of one model.
derive::KernelSetting setting_of(const Rank& rank) {
  derive::KernelSetting setting;
  if (rank.devices.empty()) return setting;
  const trace::Device& device = rank.devices.front();
  setting.vendor = derive::vendor_of(device.name);
  setting.compute_major = device.compute_major;
  setting.compute_minor = device.compute_minor;
  return setting;
}

/// "yes", "no" or, when the name does not tell, "".
std::string_view uses_matrix_cores(std::string_view kernel, const derive::KernelSetting& setting) {
  switch (derive::matrix_cores_of(kernel, setting).cores) {
    case derive::MatrixCores::yes:
      return "yes";
    case derive::MatrixCores::no:
      return "no";
    case derive::MatrixCores::unknown:
      break;
  }
  return "";
}

struct PropertyColumns {
  report::Texts &op, &grid, &block;
  report::Ints &registers, &shared_memory;
};

class KernelTable {
 public:
  KernelTable(const trace::Trace& trace, bool by_properties)
      : trace_(trace),
        table_{by_properties ? "Kernels by launch properties" : "Kernels by name", Shape::table, {}},
        rank_(table_, trace),
        name_(table_.texts("name")) {
    if (by_properties) {
      properties_.emplace(PropertyColumns{table_.texts("op"), table_.texts("grid"), table_.texts("block"),
                                          table_.ints("registers", Unit::count, Role::key),
                                          table_.ints("shared_memory", Unit::bytes, Role::key)});
    }
    count_ = &table_.ints("count", Unit::count);
    total_ = &table_.ints("total", Unit::ns);
    share_ = &table_.reals("share", Unit::share, Role::share);
    mean_ = &table_.ints("mean", Unit::ns);
    p50_ = &table_.ints("p50", Unit::ns);
    p95_ = &table_.ints("p95", Unit::ns);
    min_ = &table_.ints("min", Unit::ns);
    max_ = &table_.ints("max", Unit::ns);
    blocks_per_sm_ = &table_.reals("blocks_per_sm", Unit::none);
    occupancy_ = &table_.reals("occupancy", Unit::share);
    matrix_cores_ = &table_.texts("tensor_cores", Role::detail);
    work_ = &table_.texts("work", Role::detail);
  }

  void add(const Rank& rank, Group& group, std::int64_t total_of_all, const derive::KernelSetting& setting) {
    rank_.add(rank);
    name_.emplace_back(trace_.text(group.key.name));
    if (properties_) {
      properties_->op.emplace_back(trace_.text(group.key.op));
      properties_->grid.push_back(on_one_line(trace_.text(group.key.grid)));
      properties_->block.push_back(on_one_line(trace_.text(group.key.block)));
      properties_->registers.push_back(group.key.registers);
      properties_->shared_memory.push_back(group.key.shared_memory);
    }
    count_->push_back(static_cast<std::int64_t>(group.durations.size()));
    total_->push_back(group.total);
    share_->push_back(report::ratio(group.total, total_of_all));
    mean_->push_back(report::mean(group.total, static_cast<std::int64_t>(group.durations.size())));
    p50_->push_back(report::quantile(group.durations, 0.50));
    p95_->push_back(report::quantile(group.durations, 0.95));
    const auto [least, most] = std::minmax_element(group.durations.begin(), group.durations.end());
    min_->push_back(*least);
    max_->push_back(*most);
    blocks_per_sm_->push_back(group.blocks_per_sm.mean());
    occupancy_->push_back(group.occupancy.mean());
    matrix_cores_->emplace_back(uses_matrix_cores(trace_.text(group.key.name), setting));
    work_->emplace_back(derive::is_collective_kernel(trace_.text(group.key.name)) ? "communication"
                                                                                  : "compute");
  }

  report::Table take() && { return std::move(table_); }

 private:
  const trace::Trace& trace_;
  report::Table table_;
  RankColumn rank_;
  report::Texts& name_;
  std::optional<PropertyColumns> properties_;
  report::Ints *count_, *total_, *mean_, *p50_, *p95_, *min_, *max_;
  report::Reals *share_, *blocks_per_sm_, *occupancy_;
  report::Texts *matrix_cores_, *work_;
};

constexpr std::int64_t kShort[] = {2'000, 5'000, 10'000, 20'000};

struct ShortTable {
  explicit ShortTable(const trace::Trace& trace)
      : rank(table, trace),
        below(table.ints("below", Unit::ns, Role::key)),
        count(table.ints("count", Unit::count)),
        share(table.reals("share", Unit::share, Role::share)),
        total(table.ints("total", Unit::ns)),
        time_share(table.reals("time_share", Unit::share, Role::share)) {}

  void add(const Rank& of, const std::vector<Group>& groups) {
    std::int64_t kernels = 0, time = 0;
    for (const Group& group : groups)
      kernels += static_cast<std::int64_t>(group.durations.size()), report::add_to(time, group.total);
    if (kernels == 0) return;
    for (const std::int64_t limit : kShort) {
      std::int64_t short_ones = 0, short_time = 0;
      for (const Group& group : groups)
        for (const std::int64_t duration : group.durations)
          if (duration < limit) ++short_ones, report::add_to(short_time, duration);
      rank.add(of);
      below.push_back(limit);
      count.push_back(short_ones);
      share.push_back(report::ratio(short_ones, kernels));
      total.push_back(short_time);
      time_share.push_back(report::ratio(short_time, time));
    }
  }

  report::Table table{"Short kernels", Shape::table, {}};
  RankColumn rank;
  report::Ints &below, &count;
  report::Reals& share;
  report::Ints& total;
  report::Reals& time_share;
};

/// Compute kernels by what they do.
struct KindTable {
  explicit KindTable(const trace::Trace& trace)
      : rank(table, trace),
        kind(table.texts("kind")),
        count(table.ints("count", Unit::count)),
        total(table.ints("total", Unit::ns)),
        share(table.reals("share", Unit::share, Role::share)),
        small(table.reals("small_grid_share", Unit::share, Role::detail)),
        chained(table.reals("chained_share", Unit::share, Role::detail)) {}

  void add(const trace::Trace& trace, const Rank& of, const std::vector<Group>& groups,
           const ChainedTime& chains) {
    struct Sum {
      std::int64_t count = 0, total = 0, small = 0;
      double with_grid = 0;
    };
    std::array<Sum, derive::kKernelKinds> sums;
    std::int64_t all = 0;
    for (const Group& group : groups) {
      const std::string_view name = trace.text(group.key.name);
      if (derive::is_collective_kernel(name)) continue;
      Sum& sum = sums[static_cast<std::size_t>(derive::kernel_kind(name))];
      sum.count += static_cast<std::int64_t>(group.durations.size());
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
      if (sums[k].count == 0) continue;
      rank.add(of);
      kind.emplace_back(derive::name_of(static_cast<derive::KernelKind>(k)));
      count.push_back(sums[k].count);
      total.push_back(sums[k].total);
      share.push_back(report::ratio(sums[k].total, all));
      small.push_back(sums[k].with_grid > 0 ? report::ratio(sums[k].small, sums[k].total) : kNoReal);
      chained.push_back(report::ratio(chains[k], sums[k].total));
    }
  }

  report::Table table{"Kinds of compute kernels", Shape::bars, {}};
  RankColumn rank;
  report::Texts& kind;
  report::Ints &count, &total;
  report::Reals &share, &small, &chained;
};

struct CopyTable {
  explicit CopyTable(const trace::Trace& trace)
      : rank(table, trace),
        name(table.texts("name")),
        count(table.ints("count", Unit::count)),
        bytes(table.ints("bytes", Unit::bytes)),
        total(table.ints("total", Unit::ns)),
        mean(table.ints("mean", Unit::ns)),
        rate(table.reals("bytes_per_s", Unit::bytes_per_s)) {}
  report::Table table{"Copies and fills", Shape::table, {}};
  RankColumn rank;
  report::Texts& name;
  report::Ints &count, &bytes, &total, &mean;
  report::Reals& rate;
};

/// Copies or fills of one name. `timed` is the time of those whose size is recorded.
struct Copies {
  StringId name;
  std::int64_t count = 0, total = 0, bytes = 0, sized = 0, timed = 0;
};

void add_copies(CopyTable& out, const trace::Trace& trace, const Rank& rank, const StepChoice& choice) {
  const trace::EventTable& e = rank.events;
  const ArgReader bytes(trace, rank, "bytes");
  std::vector<Copies> groups;
  std::vector<std::uint32_t> by_name(trace.strings.size());
  for (const Row row : rank.device_rows()) {
    if ((e.kind[row] != Kind::memcpy && e.kind[row] != Kind::memset) || !choice.includes(rank, row)) continue;
    std::uint32_t& slot = by_name[e.name[row]];  // index + 1
    if (slot == 0) {
      groups.push_back({e.name[row]});
      slot = static_cast<std::uint32_t>(groups.size());
    }
    Copies& group = groups[slot - 1];
    ++group.count;
    report::add_to(group.total, e.duration(row));
    const std::int64_t size = bytes.integer_or(row, -1);
    if (size < 0) continue;
    ++group.sized;
    report::add_to(group.bytes, size);
    report::add_to(group.timed, e.duration(row));
  }
  std::sort(groups.begin(), groups.end(), [&](const Copies& a, const Copies& b) {
    return a.total != b.total ? a.total > b.total : trace.text(a.name) < trace.text(b.name);
  });
  for (const Copies& group : groups) {
    out.rank.add(rank);
    out.name.emplace_back(trace.text(group.name));
    out.count.push_back(group.count);
    out.bytes.push_back(group.sized > 0 ? group.bytes : kNoInt);
    out.total.push_back(group.total);
    out.mean.push_back(report::mean(group.total, group.count));
    out.rate.push_back(group.timed > 0
                           ? static_cast<double>(group.bytes) / (static_cast<double>(group.timed) / 1e9)
                           : kNoReal);
  }
}

}  // namespace

constexpr report::ParamSpec kParams[] = {{"group", report::ParamSpec::Type::choice, "name", "name|properties",
                                          "one row per kernel name, or per name, op and launch properties"},
                                         kTbCompat};

constinit const About kernels_about = {kParams};

report::Report kernels(const trace::Trace& trace, const report::Params& params) {
  if (params.flag("tb-compat")) return tb_kernels(trace, params);
  const StepChoice choice(params);
  const bool by_properties = params.text("group") == "properties";
  KernelTable out(trace, by_properties);
  ShortTable shorts(trace);
  KindTable kinds(trace);
  CopyTable copies(trace);
  LowOccupancy low(trace);
  KernelDrift drift(trace);
  RecomputedWork recomputed(trace);
  ConvSetup convolutions(trace);
  report::Report report{"kernels", {}, {}};
  bool any = false, any_fill = false;
  for (const Rank& rank : trace.ranks) {
    Groups groups(trace, rank, by_properties);
    for (const Row row : rank.device_rows())
      if (rank.events.kind[row] == Kind::kernel && choice.includes(rank, row)) groups.add(row);
    std::vector<Group> sorted = std::move(groups).sorted();
    std::int64_t total = 0;
    for (const Group& group : sorted) report::add_to(total, group.total);
    shorts.add(rank, sorted);
    kinds.add(trace, rank, sorted, chained_time(trace, rank, choice));
    const derive::KernelSetting setting = setting_of(rank);
    for (Group& group : sorted) {
      any_fill |= group.blocks_per_sm.weight > 0 || group.occupancy.weight > 0;
      out.add(rank, group, total, setting);
    }
    any |= !sorted.empty();
    add_copies(copies, trace, rank, choice);
    low.add(trace, rank, choice);
    drift.add(trace, rank);
    recomputed.add(trace, rank, choice);
    convolutions.add(trace, rank, choice);
  }
  if (!any)
    report.notes.push_back(std::string(kNoKernels));
  else if (!any_fill)
    report.notes.push_back(std::string(kNoFill));
  report.tables.push_back(std::move(out).take());
  report.tables.push_back(std::move(shorts.table));
  report.tables.push_back(std::move(copies.table));
  report.tables.push_back(std::move(kinds.table));
  for (report::Table& table : std::array{std::move(low).take(), std::move(drift).take(),
                                         std::move(recomputed).take(), std::move(convolutions).take()})
    if (table.rows() > 0) report.tables.push_back(std::move(table));
  return report;
}

}  // namespace stepscope::analyze
