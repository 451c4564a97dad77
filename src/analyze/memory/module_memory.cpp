// What the activations of each nn.Module hold when memory is fullest, and what checkpointing it would free.
#include <algorithm>
#include <map>

#include "analyze/host/module_paths.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "derive/memory_records.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::kNoPath;
using derive::MemoryRecords;
using derive::PathId;
using report::kNoInt;
using report::Role;
using report::Shape;
using report::Unit;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

constexpr std::string_view kModule = "nn.Module: ";
constexpr std::string_view kBackward = "in the backward pass", kOutside = "outside modules",
                           kBefore = "allocated before the recording";

struct Columns {
  explicit Columns(const trace::Trace& trace)
      : rank(table, trace),
        device(table.texts("device")),
        module(table.texts("module")),
        kind(table.texts("class", Role::detail)),
        depth(table.ints("depth", Unit::none, Role::depth)),
        count(table.ints("count", Unit::count)),
        bytes(table.ints("bytes", Unit::bytes)),
        self(table.ints("self_bytes", Unit::bytes)),
        freed(table.ints("checkpoint_frees", Unit::bytes)),
        share(table.reals("share", Unit::share, Role::share)) {}
  report::Table table{"Alive at the peak, by module", Shape::tree, {}};
  RankColumn rank;
  report::Texts &device, &module, &kind;
  report::Ints &depth, &count, &bytes, &self, &freed;
  report::Reals& share;
};

bool is_module(const trace::Trace& trace, const Rank& rank, Row row) {
  return rank.events.kind[row] == trace::Kind::python && trace.name(rank, row).starts_with(kModule);
}

/// What is alive at the peak of one memory.
class Alive {
 public:
  Alive(const trace::Trace& trace, const Rank& rank, const MemoryRecords& records, const ModulePaths& modules)
      : trace_(trace),
        rank_(rank),
        records_(records),
        modules_(modules),
        bytes_(modules.paths.size()),
        count_(modules.paths.size()),
        freed_(modules.paths.size()) {}

  void take(const StepChoice& choice) {
    if (!find_peak(choice)) return;
    for (std::uint32_t i = 0; i <= peak_; ++i)
      if (records_.bytes[i] > 0 && records_.freed[i] > peak_) add(records_.range[i], records_.bytes[i]);
    for (const auto& [row, call] : calls_)
      report::add_to(freed_[modules_.host.path[row]], call.bytes - call.last);
  }

  void write(Columns& out) {
    if (peak_ == MemoryRecords::kNever) return;
    const std::vector<std::int64_t> self = bytes_;
    modules_.paths.add_up(bytes_);
    modules_.paths.add_up(count_);
    const std::int64_t whole = std::max(records_.level(peak_), known_);
    const auto row = [&](std::string_view module, std::int64_t depth, std::int64_t count,
                         std::int64_t bytes) {
      out.rank.add(rank_);
      out.device.push_back(records_.device.name());
      out.module.emplace_back(module);
      out.depth.push_back(depth);
      out.count.push_back(count);
      out.bytes.push_back(bytes);
      out.share.push_back(report::ratio(bytes, whole));
    };
    for (const PathId path : modules_.paths.preorder(bytes_)) {
      if (bytes_[path] == 0) continue;
      row(modules_.paths.name(path), modules_.paths.depth(path), count_[path], bytes_[path]);
      out.kind.emplace_back(class_of_module(modules_.paths.name(path)));
      out.self.push_back(self[path]);
      out.freed.push_back(modules_.counts_calls ? freed_[path] : kNoInt);
    }
    const auto rest = [&](std::string_view what, std::int64_t count, std::int64_t bytes) {
      if (bytes == 0) return;
      row(what, 0, count, bytes);
      out.kind.emplace_back();
      out.self.push_back(bytes);
      out.freed.push_back(kNoInt);
    };
    rest(kBackward, backward_.count, backward_.bytes);
    rest(kOutside, outside_.count, outside_.bytes);
    rest(kBefore, kNoInt, whole - known_);
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
    std::int64_t bytes = 0, last = 0;  ///< of all its allocations that are alive, and of the last one
  };

  bool find_peak(const StepChoice& choice) {
    for (std::uint32_t i = 0; i < records_.size(); ++i)
      if (choice.includes(rank_, records_.row[i]) &&
          (peak_ == MemoryRecords::kNever || records_.level(i) > records_.level(peak_)))
        peak_ = i;
    return peak_ != MemoryRecords::kNever;
  }

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
  const ModulePaths& modules_;
  std::uint32_t peak_ = MemoryRecords::kNever;
  std::vector<std::int64_t> bytes_, count_, freed_;  // by path
  std::map<Row, Call> calls_;                        // of modules
  Sum backward_, outside_;
  std::int64_t known_ = 0;
};

}  // namespace

constinit const About module_memory_about = {};

report::Report module_memory(const trace::Trace& trace, const report::Params& params) {
  const StepChoice choice(params);
  Columns out(trace);
  report::Report report{"module_memory", {}, {}};
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
      Alive alive(trace, rank, records, modules);
      alive.take(choice);
      alive.write(out);
    }
  }
  if (!any_records)
    report.notes.emplace_back("No allocations are recorded. Record with profile_memory=True.");
  else if (!any_modules)
    report.notes.emplace_back(
        "No nn.Module is recorded. Record with with_stack=True, or with stepscope.profiler also "
        "with_modules=True.");
  report.tables.push_back(std::move(out.table));
  return report;
}

}  // namespace stepscope::analyze
