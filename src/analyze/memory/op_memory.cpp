#include "analyze/memory/op_memory.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "report/statistics.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using derive::kNoPath;
using derive::MemoryRecords;
using derive::PathId;
using report::kNoInt;
using report::Unit;
using trace::Row;

/// Sums over the records whose innermost operator has a path; the last element is for records outside
/// operators.
struct ByPath {
  explicit ByPath(std::size_t paths)
      : increase(paths + 1), count(paths + 1), size(paths + 1), kept(paths + 1) {}
  std::vector<std::int64_t> increase, count, size, kept;
};

ByPath by_path(const ChosenRecords& memory, const OpPaths& ops) {
  const MemoryRecords& records = memory.records;
  ByPath sums(ops.paths.size());
  for (const std::uint32_t i : memory.chosen) {
    const Row range = records.range[i];
    const PathId path = range == trace::kNoRow ? kNoPath : ops.host.path[range];
    const std::size_t at = path == kNoPath ? ops.paths.size() : path;
    report::add_to(sums.increase[at], records.bytes[i]);
    if (records.bytes[i] <= 0) continue;
    ++sums.count[at];
    report::add_to(sums.size[at], records.bytes[i]);
    if (records.addressed && records.freed[i] == MemoryRecords::kNever)
      report::add_to(sums.kept[at], records.bytes[i]);
  }
  return sums;
}

std::map<std::string_view, OpMemory> by_operator(const ByPath& self, const OpPaths& ops) {
  ByPath all = self;
  for (std::vector<std::int64_t>* values : {&all.increase, &all.count, &all.size}) ops.paths.add_up(*values);
  std::map<std::string_view, OpMemory> by_op;
  const PathId paths = static_cast<PathId>(ops.paths.size());
  for (PathId path = 0; path < paths; ++path) {
    OpMemory& sum = by_op[ops.paths.name(path)];
    sum.calls += ops.host.calls[path];
    report::add_to(sum.self_increase, self.increase[path]);
    report::add_to(sum.self_size, self.size[path]);
    report::add_to(sum.kept, self.kept[path]);
    sum.self_count += self.count[path];
    if (!ops.outermost[path]) continue;
    report::add_to(sum.increase, all.increase[path]);
    report::add_to(sum.size, all.size[path]);
    sum.count += all.count[path];
  }
  OpMemory outside;
  outside.calls = outside.increase = outside.count = outside.size = kNoInt;
  outside.self_increase = self.increase[paths];
  outside.self_count = self.count[paths];
  outside.self_size = self.size[paths];
  outside.kept = self.kept[paths];
  by_op[kOutsideOperators] = outside;
  return by_op;
}

bool allocates_nothing(const OpMemory& op) {
  return op.self_increase == 0 && op.self_size == 0 && (op.size == 0 || op.size == kNoInt) &&
         (op.increase == 0 || op.increase == kNoInt);
}

}  // namespace

OpPaths op_paths(const trace::Trace& trace, const trace::Rank& rank, const StepChoice& choice) {
  OpPaths ops;
  trace::AskedOnce path_name(trace.strings,
                             [&](std::string_view name) { return ops.paths.names.intern(name); });
  ops.host = host_paths(rank, ops.paths, [&](Row row, PathId above) {
    if (rank.events.kind[row] != trace::Kind::op || !choice.includes(rank, row)) return kNoPath;
    return ops.paths.child(above, path_name(rank.events.name[row]));
  });
  ops.outermost.assign(ops.paths.size(), true);
  for (PathId path = 0; path < ops.paths.size(); ++path)
    for (PathId at = ops.paths.parent(path); at != kNoPath && ops.outermost[path]; at = ops.paths.parent(at))
      if (ops.paths.name(at) == ops.paths.name(path)) ops.outermost[path] = false;
  return ops;
}

void add_op_memory(std::vector<OpMemory>& ops, const ChosenRecords& memory, const OpPaths& paths) {
  std::vector<OpMemory> rows;
  for (const auto& [op, sum] : by_operator(by_path(memory, paths), paths)) {
    if (allocates_nothing(sum)) continue;
    OpMemory& row = rows.emplace_back(sum);
    row.rank = memory.rank.rank;
    row.memory = memory.records.device;
    row.op = op;
    if (!memory.records.addressed) row.kept = kNoInt;
  }
  std::stable_sort(rows.begin(), rows.end(), [](const OpMemory& a, const OpMemory& b) {
    return std::tuple(a.self_increase, a.self_size) > std::tuple(b.self_increase, b.self_size);
  });
  std::move(rows.begin(), rows.end(), std::back_inserter(ops));
}

const report::Sheet<OpMemory> kOpMemorySheet{
    "Operators",
    report::Shape::table,
    {report::rank_field<OpMemory>(&OpMemory::rank),
     {"device", +[](const OpMemory& op) { return op.memory.name(); }},
     {"op", &OpMemory::op},
     {"calls", &OpMemory::calls, Unit::count},
     {"size_increase", &OpMemory::increase, Unit::bytes},
     {"self_size_increase", &OpMemory::self_increase, Unit::bytes},
     {"allocation_count", &OpMemory::count, Unit::count},
     {"self_allocation_count", &OpMemory::self_count, Unit::count},
     {"allocation_size", &OpMemory::size, Unit::bytes},
     {"self_allocation_size", &OpMemory::self_size, Unit::bytes},
     {"never_freed", &OpMemory::kept, Unit::bytes}}};

}  // namespace stepscope::analyze
