#include "analyze/memory/checkpointing.h"

#include <algorithm>
#include <map>

#include "analyze/host/module_paths.h"
#include "analyze/list.h"
#include "analyze/memory/chosen_records.h"
#include "derive/growth/checkpointed_peak.h"
#include "report/sheet.h"

namespace stepscope::analyze {
namespace {

using derive::MemoryRecords;
using report::Role;
using report::Unit;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

/// Classes that hold less than this share of the peak are left out.
constexpr double kWorthAsking = 0.01;
constexpr std::string_view kModuleCall = "nn.Module: ";

/// Time of the device in the calls; of the host without device work.
std::int64_t time_of_calls(const Rank& rank, const std::vector<Row>& calls) {
  const trace::EventTable& e = rank.events;
  std::int64_t host = 0, device = 0;
  for (const Row row : calls) host += e.duration(row);
  for (Row row = 0; row < e.size(); ++row) {
    if (e.work[row] == trace::Work::none || e.op[row] == kNoRow) continue;
    for (Row up = e.op[row]; up != kNoRow; up = e.parent[up])
      if (std::ranges::binary_search(calls, up)) {
        device += e.duration(row);
        break;
      }
  }
  return device > 0 ? device : host;
}

void add_modules(const Derived& derived, const Rank& rank, const MemoryRecords& records,
                 std::vector<CheckpointedModule>& out) {
  const ChosenRecords chosen = chosen_records(rank, records, derived.choice());
  if (chosen.chosen.empty()) return;
  const std::int64_t peak = records.level(chosen.peak);
  const std::vector<bool> in_backward = derive::in_backward_passes(derived.trace(), rank, records);
  std::vector<CheckpointedModule> rows;
  for (const auto& [module, calls] : calls_by_class(derived, rank)) {
    const derive::CheckpointedPeak found =
        checkpointed_peak(records, recomputed_calls(rank, records, in_backward, calls));
    if (static_cast<double>(found.held) < kWorthAsking * static_cast<double>(peak)) continue;
    rows.push_back({rank.rank, records.device, module, static_cast<std::int64_t>(calls.size()), peak,
                    found.held, std::min(found.low, peak), std::min(found.high, peak),
                    time_of_calls(rank, calls)});
  }
  std::ranges::stable_sort(rows, {}, &CheckpointedModule::high);
  std::ranges::move(rows, std::back_inserter(out));
}

const report::Sheet<CheckpointedModule> kCheckpointedSheet{
    "Peak with every call of a module checkpointed",
    report::Shape::table,
    {report::rank_field<CheckpointedModule>(&CheckpointedModule::rank),
     {"device", +[](const CheckpointedModule& of) { return of.memory.name(); }},
     {"module", &CheckpointedModule::module},
     {"calls", &CheckpointedModule::calls, Unit::count},
     {"held", &CheckpointedModule::held, Unit::bytes},
     {"peak", &CheckpointedModule::peak, Unit::bytes},
     {"peak_low", &CheckpointedModule::low, Unit::bytes},
     {"peak_high", &CheckpointedModule::high, Unit::bytes},
     {"repeated", &CheckpointedModule::again, Unit::ns}}};

}  // namespace

std::map<std::string, std::vector<Row>, std::less<>> calls_by_class(const Derived& derived,
                                                                    const Rank& rank) {
  const trace::Trace& trace = derived.trace();
  const trace::EventTable& e = rank.events;
  std::map<std::string, std::vector<Row>, std::less<>> calls;
  const auto class_of = [&](Row row) -> std::string_view {
    const std::string_view name = trace.name(rank, row);
    if (e.kind[row] != trace::Kind::python || !name.starts_with(kModuleCall)) return "";
    return class_of_module(name.substr(kModuleCall.size()));
  };
  for (const Row row : rank.host_rows()) {
    const std::string_view of = class_of(row);
    if (of.empty() || !derived.choice().includes(rank, row)) continue;
    bool is_outermost = true;
    for (Row up = e.parent[row]; up != kNoRow && is_outermost; up = e.parent[up])
      is_outermost = class_of(up) != of;
    if (is_outermost) calls[std::string(of)].push_back(row);
  }
  return calls;
}

Checkpointing checkpointing_of(const Derived& derived) {
  Checkpointing of;
  bool any = false;
  for (const Rank& rank : derived.trace().ranks) {
    const std::vector<MemoryRecords> memories = derive::memory_records(derived.trace(), rank);
    any |= !memories.empty();
    const bool has_device =
        std::ranges::any_of(memories, [](const MemoryRecords& memory) { return !memory.device.host(); });
    for (const MemoryRecords& memory : memories)
      if (memory.addressed && memory.device.host() != has_device)
        add_modules(derived, rank, memory, of.modules);
  }
  if (!any)
    of.notes.emplace_back(
        "No allocations are recorded. Record with profile_memory=True and with_stack=True.");
  else if (of.modules.empty())
    of.notes.emplace_back(
        "No call of an nn.Module keeps memory for a backward pass, or no calls are recorded: record with "
        "with_stack=True, or with stepscope.profiler also with_modules=True.");
  return of;
}

constinit const About checkpointing_about = {};

report::Report checkpointing(const Derived& derived, const report::Params&) {
  Checkpointing of = checkpointing_of(derived);
  return {"checkpointing",
          {tabulate(kCheckpointedSheet, of.modules, derived.trace().several())},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
