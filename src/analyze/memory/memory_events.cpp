// What the allocator reported: the curve of each memory, its peak and what was alive then, who allocated,
// what stayed.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "analyze/list.h"
#include "analyze/question.h"
#include "derive/call_paths.h"
#include "derive/memory_records.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::CallPaths;
using derive::HostPaths;
using derive::kNoPath;
using derive::MemoryRecords;
using derive::PathId;
using report::kNoInt;
using report::kNoReal;
using report::Role;
using report::Shape;
using report::Unit;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::StringId;

static_assert(MemoryRecords::kAbsent == kNoInt);

constexpr std::string_view kOutside = "outside operators";
constexpr std::string_view kBefore = "allocated before the recording";

/// One memory in the chosen steps.
struct Memory {
  const Rank& rank;
  const MemoryRecords& records;
  std::vector<std::uint32_t> chosen;  ///< indices of the records in the steps
  std::uint32_t peak = MemoryRecords::kNever;
};

Memory memory_of(const Rank& rank, const MemoryRecords& records, const StepChoice& choice) {
  Memory memory{rank, records, {}, MemoryRecords::kNever};
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (!choice.includes(rank, records.row[i])) continue;
    memory.chosen.push_back(i);
    if (memory.peak == MemoryRecords::kNever || memory.records.level(i) > memory.records.level(memory.peak))
      memory.peak = i;
  }
  return memory;
}

struct PeakTable {
  explicit PeakTable(const trace::Trace& trace)
      : rank(table, trace),
        device(table.texts("device")),
        allocated(table.ints("peak_allocated", Unit::bytes)),
        reserved(table.ints("peak_reserved", Unit::bytes)),
        capacity(table.ints("capacity", Unit::bytes)),
        share(table.reals("reserved_share", Unit::share, Role::share)),
        time(table.ints("peak_time", Unit::ns)),
        step(table.texts("step", Role::detail)),
        change(table.ints("peak_change", Unit::bytes)),
        end(table.ints("end_change", Unit::bytes)),
        allocations(table.ints("allocations", Unit::count)),
        frees(table.ints("frees", Unit::count)),
        failed(table.ints("out_of_memory", Unit::count)) {}
  report::Table table{"Peak of each memory", Shape::table, {}};
  RankColumn rank;
  report::Texts& device;
  report::Ints &allocated, &reserved, &capacity;
  report::Reals& share;
  report::Ints& time;
  report::Texts& step;
  report::Ints &change, &end, &allocations, &frees, &failed;
};

std::int64_t capacity_of(const Rank& rank, const derive::MemoryDevice& device) {
  for (const trace::Device& d : rank.devices)
    if (!device.host() && d.id == device.id && d.total_memory > 0) return d.total_memory;
  return kNoInt;
}

std::string step_of(const Rank& rank, Row row) {
  const std::int32_t step = rank.events.step[row];
  return step < 0 ? "" : std::to_string(rank.steps[static_cast<std::size_t>(step)].number);
}

void add_peak(PeakTable& out, const Memory& memory, std::int64_t origin) {
  const MemoryRecords& records = memory.records;
  std::int64_t reserved = kNoInt, change = kNoInt, allocations = 0;
  for (const std::uint32_t i : memory.chosen) {
    reserved = std::max(reserved, records.reserved[i]);
    change = std::max(change, records.change[i]);
    allocations += records.bytes[i] > 0;
  }
  const std::int64_t capacity = capacity_of(memory.rank, records.device);
  const Row row = records.row[memory.peak];
  out.rank.add(memory.rank);
  out.device.push_back(records.device.name());
  out.allocated.push_back(memory.records.has_totals() ? records.allocated[memory.peak] : kNoInt);
  out.reserved.push_back(reserved);
  out.capacity.push_back(capacity);
  const bool known = capacity != kNoInt && reserved >= 0 && reserved <= capacity;
  out.share.push_back(known ? report::ratio(reserved, capacity) : kNoReal);
  out.time.push_back(memory.rank.events.start[row] - origin);
  out.step.push_back(step_of(memory.rank, row));
  out.change.push_back(change);
  out.end.push_back(records.change[memory.chosen.back()]);
  out.allocations.push_back(allocations);
  out.frees.push_back(static_cast<std::int64_t>(memory.chosen.size()) - allocations);
  out.failed.push_back(records.out_of_memory);
}

/// The operator an allocation is shown under: with the caller of those that only make empty tensors.
std::string op_name(const trace::Trace& trace, const Rank& rank, Row range) {
  const trace::EventTable& e = rank.events;
  const auto op_at = [&](Row at) {
    for (int steps = 0; at != kNoRow && e.kind[at] != Kind::op && steps < 4096; ++steps) at = e.parent[at];
    return at != kNoRow && e.kind[at] == Kind::op ? at : kNoRow;
  };
  const Row op = op_at(range);
  if (op == kNoRow) return std::string(kOutside);
  const std::string_view name = trace.name(rank, op);
  const Row caller = op_at(e.parent[op]);
  if (caller == kNoRow || !(name.starts_with("aten::empty") || name.starts_with("aten::resize_")))
    return std::string(name);
  return fmt::format("{} ({})", trace.name(rank, caller), name);
}

struct AliveTable {
  explicit AliveTable(const trace::Trace& trace)
      : rank(table, trace),
        device(table.texts("device")),
        op(table.texts("op")),
        count(table.ints("count", Unit::count)),
        bytes(table.ints("bytes", Unit::bytes)),
        share(table.reals("share", Unit::share, Role::share)) {}
  report::Table table{"Alive at the peak", Shape::bars, {}};
  RankColumn rank;
  report::Texts &device, &op;
  report::Ints &count, &bytes;
  report::Reals& share;
};

void add_alive(AliveTable& out, const trace::Trace& trace, const Memory& memory) {
  const MemoryRecords& records = memory.records;
  if (!records.addressed) return;
  struct Sum {
    std::int64_t count = 0, bytes = 0;
  };
  std::map<std::string, Sum> by_op;
  std::map<Row, Sum*> by_range;
  std::int64_t known = 0;
  for (std::uint32_t i = 0; i <= memory.peak; ++i) {
    if (records.bytes[i] <= 0 || records.freed[i] <= memory.peak) continue;
    Sum*& sum = by_range[records.range[i]];
    if (sum == nullptr) sum = &by_op[op_name(trace, memory.rank, records.range[i])];
    ++sum->count;
    report::add_to(sum->bytes, records.bytes[i]);
    report::add_to(known, records.bytes[i]);
  }
  const std::int64_t whole = memory.records.has_totals() ? records.allocated[memory.peak] : known;
  if (memory.records.has_totals() && whole > known) by_op[std::string(kBefore)] = {kNoInt, whole - known};
  std::vector<std::pair<std::string, Sum>> order(by_op.begin(), by_op.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  for (const auto& [op, sum] : order) {
    out.rank.add(memory.rank);
    out.device.push_back(records.device.name());
    out.op.push_back(op);
    out.count.push_back(sum.count);
    out.bytes.push_back(sum.bytes);
    out.share.push_back(report::ratio(sum.bytes, std::max(whole, known)));
  }
}

struct OpTable {
  explicit OpTable(const trace::Trace& trace)
      : rank(table, trace),
        device(table.texts("device")),
        op(table.texts("op")),
        calls(table.ints("calls", Unit::count)),
        increase(table.ints("size_increase", Unit::bytes)),
        self_increase(table.ints("self_size_increase", Unit::bytes)),
        count(table.ints("allocation_count", Unit::count)),
        self_count(table.ints("self_allocation_count", Unit::count)),
        size(table.ints("allocation_size", Unit::bytes)),
        self_size(table.ints("self_allocation_size", Unit::bytes)),
        kept(table.ints("never_freed", Unit::bytes)) {}
  report::Table table{"Operators", Shape::table, {}};
  RankColumn rank;
  report::Texts &device, &op;
  report::Ints &calls, &increase, &self_increase, &count, &self_count, &size, &self_size, &kept;
};

/// The rank's operators by path, and which paths are not inside an operator of the same name.
struct OpPaths {
  CallPaths paths;
  HostPaths host;
  std::vector<bool> outermost;
};

OpPaths op_paths(const trace::Trace& trace, const Rank& rank, const StepChoice& choice) {
  OpPaths ops;
  std::vector<StringId> known(trace.strings.size(), trace::kNoString);
  ops.host = host_paths(rank, ops.paths, [&](Row row, PathId above) {
    if (rank.events.kind[row] != Kind::op || !choice.includes(rank, row)) return kNoPath;
    StringId& name = known[rank.events.name[row]];
    if (name == trace::kNoString) name = ops.paths.names.intern(trace.name(rank, row));
    return ops.paths.child(above, name);
  });
  ops.outermost.assign(ops.paths.size(), true);
  for (PathId path = 0; path < ops.paths.size(); ++path)
    for (PathId at = ops.paths.parent(path); at != kNoPath && ops.outermost[path]; at = ops.paths.parent(at))
      if (ops.paths.name(at) == ops.paths.name(path)) ops.outermost[path] = false;
  return ops;
}

struct OpSum {
  std::int64_t calls = 0, increase = 0, self_increase = 0, count = 0, self_count = 0, size = 0, self_size = 0,
               kept = 0;
};

void add_ops(OpTable& out, const Memory& memory, const OpPaths& ops) {
  const MemoryRecords& records = memory.records;
  const std::size_t paths = ops.paths.size();
  std::vector<std::int64_t> increase(paths), count(paths), size(paths), kept(paths);
  OpSum outside;
  for (const std::uint32_t i : memory.chosen) {
    const Row range = records.range[i];
    const PathId path = range == kNoRow ? kNoPath : ops.host.path[range];
    const bool stays = records.addressed && records.bytes[i] > 0 && records.freed[i] == MemoryRecords::kNever;
    report::add_to(path == kNoPath ? outside.self_increase : increase[path], records.bytes[i]);
    if (records.bytes[i] <= 0) continue;
    ++(path == kNoPath ? outside.self_count : count[path]);
    report::add_to(path == kNoPath ? outside.self_size : size[path], records.bytes[i]);
    if (stays) report::add_to(path == kNoPath ? outside.kept : kept[path], records.bytes[i]);
  }
  std::map<std::string_view, OpSum> by_op;
  const auto all_increase = [&] {
    auto v = increase;
    ops.paths.add_up(v);
    return v;
  }();
  const auto all_count = [&] {
    auto v = count;
    ops.paths.add_up(v);
    return v;
  }();
  const auto all_size = [&] {
    auto v = size;
    ops.paths.add_up(v);
    return v;
  }();
  for (PathId path = 0; path < paths; ++path) {
    OpSum& sum = by_op[ops.paths.name(path)];
    sum.calls += ops.host.calls[path];
    report::add_to(sum.self_increase, increase[path]);
    report::add_to(sum.self_size, size[path]);
    report::add_to(sum.kept, kept[path]);
    sum.self_count += count[path];
    if (!ops.outermost[path]) continue;
    report::add_to(sum.increase, all_increase[path]);
    report::add_to(sum.size, all_size[path]);
    sum.count += all_count[path];
  }
  outside.calls = outside.increase = outside.count = outside.size = kNoInt;
  by_op[kOutside] = outside;
  std::vector<std::pair<std::string_view, OpSum>> order(by_op.begin(), by_op.end());
  std::erase_if(order, [](const auto& op) {
    const OpSum& s = op.second;
    return s.self_increase == 0 && s.self_size == 0 && (s.size == 0 || s.size == kNoInt) &&
           (s.increase == 0 || s.increase == kNoInt);
  });
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.second.self_increase, a.second.self_size) >
           std::tuple(b.second.self_increase, b.second.self_size);
  });
  for (const auto& [op, sum] : order) {
    out.rank.add(memory.rank);
    out.device.push_back(records.device.name());
    out.op.emplace_back(op);
    out.calls.push_back(sum.calls);
    out.increase.push_back(sum.increase);
    out.self_increase.push_back(sum.self_increase);
    out.count.push_back(sum.count);
    out.self_count.push_back(sum.self_count);
    out.size.push_back(sum.size);
    out.self_size.push_back(sum.self_size);
    out.kept.push_back(records.addressed ? sum.kept : kNoInt);
  }
}

struct KeptTable {
  explicit KeptTable(const trace::Trace& trace)
      : rank(table, trace),
        device(table.texts("device")),
        time(table.ints("time", Unit::ns, Role::key)),
        event(table.ints("event", Unit::none, Role::key)),
        bytes(table.ints("bytes", Unit::bytes)),
        op(table.texts("op", Role::value)),
        step(table.texts("step", Role::detail)) {}
  report::Table table{"Never freed", Shape::table, {}};
  RankColumn rank;
  report::Texts& device;
  report::Ints &time, &event, &bytes;
  report::Texts &op, &step;
};

void add_kept(KeptTable& out, const trace::Trace& trace, const Memory& memory, std::int64_t origin) {
  const MemoryRecords& records = memory.records;
  if (!records.addressed) return;
  std::vector<std::uint32_t> kept;
  for (const std::uint32_t i : memory.chosen)
    if (records.bytes[i] > 0 && records.freed[i] == MemoryRecords::kNever) kept.push_back(i);
  std::stable_sort(kept.begin(), kept.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return records.bytes[a] > records.bytes[b]; });
  for (const std::uint32_t i : kept) {
    const Row row = records.row[i];
    out.rank.add(memory.rank);
    out.device.push_back(records.device.name());
    out.time.push_back(memory.rank.events.start[row] - origin);
    out.event.push_back(memory.rank.events.source[row]);
    out.bytes.push_back(records.bytes[i]);
    out.op.push_back(op_name(trace, memory.rank, records.range[i]));
    out.step.push_back(step_of(memory.rank, row));
  }
}

struct StepTable {
  explicit StepTable(const trace::Trace& trace)
      : rank(table, trace),
        device(table.texts("device")),
        step(table.ints("step", Unit::none, Role::key)),
        lowest(table.ints("lowest", Unit::bytes)),
        highest(table.ints("highest", Unit::bytes)) {}
  report::Table table{"Memory of each step", Shape::table, {}};
  RankColumn rank;
  report::Texts& device;
  report::Ints &step, &lowest, &highest;
};

void add_steps(StepTable& out, const Memory& memory) {
  struct Levels {
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = kNoInt;
  };
  std::map<std::int32_t, Levels> by_step;
  for (const std::uint32_t i : memory.chosen) {
    const std::int32_t step = memory.rank.events.step[memory.records.row[i]];
    if (step < 0) continue;
    Levels& levels = by_step[step];
    levels.lowest = std::min(levels.lowest, memory.records.level(i));
    levels.highest = std::max(levels.highest, memory.records.level(i));
  }
  for (const auto& [step, levels] : by_step) {
    out.rank.add(memory.rank);
    out.device.push_back(memory.records.device.name());
    out.step.push_back(memory.rank.steps[static_cast<std::size_t>(step)].number);
    out.lowest.push_back(levels.lowest);
    out.highest.push_back(levels.highest);
  }
}

struct CurveTable {
  explicit CurveTable(const trace::Trace& trace)
      : rank(table, trace),
        device(table.texts("device")),
        time(table.ints("time", Unit::ns, Role::key)),
        allocated(table.ints("allocated", Unit::bytes)),
        reserved(table.ints("reserved", Unit::bytes)),
        change(table.ints("change", Unit::bytes)) {}
  report::Table table{"Memory over time", Shape::curve, {}};
  RankColumn rank;
  report::Texts& device;
  report::Ints &time, &allocated, &reserved, &change;
};

/// First, last, and of every run of records the lowest, the highest and the one with most reserved.
std::vector<std::uint32_t> thinned(const Memory& memory, std::size_t points) {
  if (memory.chosen.size() <= points) return memory.chosen;
  const std::size_t runs = std::max<std::size_t>(1, points > 5 ? (points - 2) / 3 : 1);
  std::vector<std::uint32_t> kept = {memory.chosen.front(), memory.chosen.back()};
  for (std::size_t run = 0; run < runs; ++run) {
    const auto begin = memory.chosen.begin() + static_cast<std::ptrdiff_t>(run * memory.chosen.size() / runs);
    const auto end =
        memory.chosen.begin() + static_cast<std::ptrdiff_t>((run + 1) * memory.chosen.size() / runs);
    if (begin == end) continue;
    const auto lower = [&](std::uint32_t a, std::uint32_t b) {
      return memory.records.level(a) < memory.records.level(b);
    };
    const auto less_reserved = [&](std::uint32_t a, std::uint32_t b) {
      return memory.records.reserved[a] < memory.records.reserved[b];
    };
    kept.push_back(*std::min_element(begin, end, lower));
    kept.push_back(*std::max_element(begin, end, lower));
    kept.push_back(*std::max_element(begin, end, less_reserved));
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return kept;
}

void add_curve(CurveTable& out, const Memory& memory, std::int64_t origin, std::size_t points) {
  const std::string device = memory.records.device.name();
  for (const std::uint32_t i : thinned(memory, points)) {
    out.rank.add(memory.rank);
    out.device.push_back(device);
    out.time.push_back(memory.rank.events.start[memory.records.row[i]] - origin);
    out.allocated.push_back(memory.records.allocated[i]);
    out.reserved.push_back(memory.records.reserved[i]);
    out.change.push_back(memory.records.change[i]);
  }
}

}  // namespace

constexpr report::ParamSpec kParams[] = {{"points", report::ParamSpec::Type::integer, "2000", "",
                                          "most points of each memory's curve; lows and highs are kept"}};

constinit const About memory_events_about = {kParams};

report::Report memory_events(const trace::Trace& trace, const report::Params& params) {
  const StepChoice choice(params);
  const auto points =
      static_cast<std::size_t>(std::clamp<std::int64_t>(params.integer("points", 2'000), 1, 10'000'000));
  PeakTable peaks(trace);
  AliveTable alive(trace);
  OpTable operators(trace);
  KeptTable kept(trace);
  CurveTable curve(trace);
  StepTable steps(trace);
  report::Report report{"memory_events", {}, {}};
  bool addressed = true, totals = true;
  std::int64_t absurd = 0;
  for (const Rank& rank : trace.ranks) {
    const std::vector<MemoryRecords> devices = derive::memory_records(trace, rank);
    if (devices.empty()) continue;
    const OpPaths ops = op_paths(trace, rank, choice);
    const std::int64_t origin = origin_of(rank);
    for (const MemoryRecords& records : devices) {
      const Memory memory = memory_of(rank, records, choice);
      absurd += records.absurd;
      if (memory.chosen.empty()) continue;
      addressed &= records.addressed;
      totals &= memory.records.has_totals();
      add_peak(peaks, memory, origin);
      add_alive(alive, trace, memory);
      add_ops(operators, memory, ops);
      add_kept(kept, trace, memory, origin);
      add_curve(curve, memory, origin, points);
      add_steps(steps, memory);
    }
  }
  if (peaks.table.rows() == 0)
    report.notes.emplace_back("No memory event is recorded. Record with profile_memory=True.");
  if (!totals)
    report.notes.emplace_back(
        "Totals are not recorded (PyTorch before 1.11): the curve and the peak are the change since the "
        "first record.");
  if (!addressed)
    report.notes.emplace_back(
        "Addresses are not recorded (PyTorch before 1.11), so frees cannot be paired with allocations: what "
        "was alive at the peak and what was never freed is not known.");
  if (absurd > 0)
    report.notes.push_back(fmt::format(
        "{} memory events have sizes that no memory holds and are left out: the file is damaged.", absurd));
  for (report::Table* table :
       {&peaks.table, &alive.table, &operators.table, &kept.table, &curve.table, &steps.table})
    report.tables.push_back(std::move(*table));
  return report;
}

}  // namespace stepscope::analyze
