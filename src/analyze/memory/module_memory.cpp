#include "analyze/memory/module_memory.h"

#include <algorithm>
#include <map>

#include "analyze/derived.h"
#include "analyze/host/module_paths.h"
#include "analyze/list.h"
#include "analyze/memory/chosen_records.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::kNoPath;
using derive::MemoryRecords;
using derive::PathId;
using report::kNoInt;
using report::Role;
using report::Unit;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

constexpr std::string_view kModule = "nn.Module: ";
constexpr std::string_view kBackward = "in the backward pass", kOutside = "outside modules";

bool is_module(const trace::Trace& trace, const Rank& rank, Row row) {
  return rank.events.kind[row] == trace::Kind::python && trace.name(rank, row).starts_with(kModule);
}

/// Allocations alive at the peak of one memory.
class Alive {
 public:
  /// `memory` has records in the steps.
  Alive(const trace::Trace& trace, const ChosenRecords& memory, const ModulePaths& modules)
      : trace_(trace),
        rank_(memory.rank),
        records_(memory.records),
        peak_(memory.peak),
        modules_(modules),
        bytes_(modules.paths.size()),
        count_(modules.paths.size()),
        freed_(modules.paths.size()) {
    for (std::uint32_t i = 0; i <= peak_; ++i)
      if (records_.bytes[i] > 0 && records_.freed[i] > peak_) add(records_.range[i], records_.bytes[i]);
    for (const auto& [row, call] : calls_)
      report::add_to(freed_[modules_.host.path[row]], call.bytes - call.last);
  }

  void write(std::vector<ModuleMemory>& out) && {
    const std::vector<std::int64_t> self = bytes_;
    modules_.paths.add_up(bytes_);
    modules_.paths.add_up(count_);
    const std::int64_t whole = std::max(records_.level(peak_), known_);
    const auto row = [&](std::string_view module, std::int64_t count, std::int64_t bytes) -> ModuleMemory& {
      return out.emplace_back(ModuleMemory{rank_.rank, records_.device, std::string(module), "", 0, count,
                                           bytes, bytes, kNoInt, report::ratio(bytes, whole)});
    };
    for (const PathId path : modules_.paths.preorder(bytes_)) {
      if (bytes_[path] == 0) continue;
      ModuleMemory& of = row(modules_.paths.name(path), count_[path], bytes_[path]);
      of.kind = class_of_module(of.module);
      of.depth = modules_.paths.depth(path);
      of.self = self[path];
      if (modules_.counts_calls) of.freed = freed_[path];
    }
    const auto rest = [&](std::string_view what, std::int64_t count, std::int64_t bytes) {
      if (bytes != 0) row(what, count, bytes);
    };
    rest(kBackward, backward_.count, backward_.bytes);
    rest(kOutside, outside_.count, outside_.bytes);
    rest(kBeforeRecording, kNoInt, whole - known_);
  }

 private:
  struct Sum {
    std::int64_t count = 0, bytes = 0;
    void add(std::int64_t more) {
      ++count;
      report::add_to(bytes, more);
    }
  };
  struct Call {
    std::int64_t bytes = 0, last = 0;  ///< of all live allocations, and of the last one
  };

  void add(Row range, std::int64_t bytes) {
    report::add_to(known_, bytes);
    const PathId path = range == kNoRow ? kNoPath : modules_.host.path[range];
    if (path == kNoPath) {
      const bool backward = range != kNoRow && modules_.backward[range] != kNoPath;
      return (backward ? backward_ : outside_).add(bytes);
    }
    report::add_to(bytes_[path], bytes);
    ++count_[path];
    for (Row row = range; row != kNoRow; row = rank_.events.parent[row]) {
      if (!is_module(trace_, rank_, row) || modules_.host.path[row] == kNoPath) continue;
      Call& call = calls_[row];
      report::add_to(call.bytes, bytes);
      call.last = bytes;
    }
  }

  const trace::Trace& trace_;
  const Rank& rank_;
  const MemoryRecords& records_;
  const std::uint32_t peak_;
  const ModulePaths& modules_;
  std::vector<std::int64_t> bytes_, count_, freed_;  // by path
  std::map<Row, Call> calls_;                        // by row, of modules
  Sum backward_, outside_;
  std::int64_t known_ = 0;
};

const report::Sheet<ModuleMemory> kModuleSheet{
    "Alive at the peak, by module",
    report::Shape::tree,
    {report::rank_field<ModuleMemory>(&ModuleMemory::rank),
     {"device", +[](const ModuleMemory& of) { return of.memory.name(); }},
     {"module", &ModuleMemory::module},
     {"class", &ModuleMemory::kind, Role::detail},
     {"depth", &ModuleMemory::depth, Unit::none, Role::depth},
     {"count", &ModuleMemory::count, Unit::count},
     {"bytes", &ModuleMemory::bytes, Unit::bytes},
     {"self_bytes", &ModuleMemory::self, Unit::bytes},
     {"checkpoint_frees", &ModuleMemory::freed, Unit::bytes},
     {"share", &ModuleMemory::share, Unit::share, Role::share}}};

}  // namespace

ModuleMemories module_memory_of(const trace::Trace& trace, const StepChoice& choice) {
  ModuleMemories of;
  bool any_records = false, any_modules = false;
  for (const Rank& rank : trace.ranks) {
    const std::vector<MemoryRecords> memories = derive::memory_records(trace, rank);
    any_records |= !memories.empty();
    if (memories.empty()) continue;
    const ModulePaths modules = module_paths(trace, rank, choice);
    if (modules.paths.size() == 0) continue;
    any_modules = true;
    for (const MemoryRecords& records : memories) {
      if (!records.addressed) continue;
      const ChosenRecords memory = chosen_records(rank, records, choice);
      if (!memory.chosen.empty()) Alive(trace, memory, modules).write(of.modules);
    }
  }
  if (!any_records)
    of.notes.emplace_back("No allocations are recorded. Record with profile_memory=True.");
  else if (!any_modules)
    of.notes.emplace_back(
        "No nn.Module is recorded. Record with with_stack=True, or with stepscope.profiler also "
        "with_modules=True.");
  return of;
}

constinit const About module_memory_about = {};

report::Report module_memory(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  ModuleMemories of = module_memory_of(trace, StepChoice(params));
  return {"module_memory", {tabulate(kModuleSheet, of.modules, trace.several())}, std::move(of.notes)};
}

}  // namespace stepscope::analyze
