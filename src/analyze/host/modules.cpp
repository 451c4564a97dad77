// What each nn.Module took on the host and on the device, forward and backward, as a tree.
#include <fmt/format.h>

#include "analyze/host/module_paths.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "derive/call_paths.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::kNoPath;
using derive::PathId;
using report::kNoInt;
using report::Role;
using report::Shape;
using report::Unit;
using trace::EventTable;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

struct Modules {
  ModulePaths in;
  std::vector<std::int64_t> device_self, backward_self;
  std::int64_t outside = 0;  ///< device time that belongs to no module
};

Modules modules_of(const trace::Trace& trace, const Rank& rank, const StepChoice& choice) {
  const EventTable& e = rank.events;
  Modules out{module_paths(trace, rank, choice), {}, {}};
  out.device_self.assign(out.in.paths.size(), 0);
  out.backward_self.assign(out.in.paths.size(), 0);
  for (const Row row : rank.device_rows()) {
    if (!is_device_work(e.kind[row]) || !choice.includes(rank, row)) continue;
    const Row from = derive::launched_from(e, row);
    const PathId own = from == kNoRow ? kNoPath : out.in.host.path[from];
    const PathId forward = from == kNoRow ? kNoPath : out.in.backward[from];
    std::int64_t& sum = own != kNoPath       ? out.device_self[own]
                        : forward != kNoPath ? out.backward_self[forward]
                                             : out.outside;
    report::add_to(sum, e.duration(row));
  }
  return out;
}

struct ModuleColumns {
  explicit ModuleColumns(const trace::Trace& trace)
      : rank(table, trace),
        module(table.texts("module")),
        kind(table.texts("class", Role::detail)),
        depth(table.ints("depth", Unit::none, Role::depth)),
        calls(table.ints("calls", Unit::count)),
        host_total(table.ints("host_total", Unit::ns)),
        host_self(table.ints("host_self", Unit::ns)),
        device_total(table.ints("device_total", Unit::ns)),
        device_self(table.ints("device_self", Unit::ns)),
        backward(table.ints("backward_device", Unit::ns)),
        backward_self(table.ints("backward_device_self", Unit::ns, Role::detail)),
        share(table.reals("device_share", Unit::share, Role::share)) {}
  report::Table table{"Modules", Shape::tree, {}};
  RankColumn rank;
  report::Texts &module, &kind;
  report::Ints &depth, &calls, &host_total, &host_self, &device_total, &device_self, &backward,
      &backward_self;
  report::Reals& share;
};

void add_rank(ModuleColumns& out, const Rank& rank, const Modules& modules, std::int64_t device_time) {
  const bool has_device = device_time > 0;
  std::vector<std::int64_t> device = modules.device_self, backward = modules.backward_self;
  modules.in.paths.add_up(device);
  modules.in.paths.add_up(backward);
  std::vector<std::int64_t> weight(modules.in.paths.size());
  for (PathId path = 0; path < weight.size(); ++path)
    weight[path] = has_device ? report::plus(device[path], backward[path]) : modules.in.host.total[path];
  for (const PathId path : modules.in.paths.preorder(weight)) {
    const std::string_view name = modules.in.paths.name(path);
    out.rank.add(rank);
    out.module.emplace_back(name);
    out.kind.emplace_back(class_of_module(name));
    out.depth.push_back(modules.in.paths.depth(path));
    out.calls.push_back(modules.in.counts_calls ? modules.in.host.calls[path] : kNoInt);
    out.host_total.push_back(modules.in.host.total[path]);
    out.host_self.push_back(modules.in.host.self[path]);
    out.device_total.push_back(has_device ? device[path] : kNoInt);
    out.device_self.push_back(has_device ? modules.device_self[path] : kNoInt);
    out.backward.push_back(has_device ? backward[path] : kNoInt);
    out.backward_self.push_back(has_device ? modules.backward_self[path] : kNoInt);
    out.share.push_back(report::ratio(report::plus(device[path], backward[path]), device_time));
  }
}

}  // namespace

constinit const About modules_about = {};

report::Report modules(const trace::Trace& trace, const report::Params& params) {
  const StepChoice choice(params);
  ModuleColumns out(trace);
  report::Report report{"modules", {}, {}};
  std::int64_t outside = 0, device_time = 0;
  for (const Rank& rank : trace.ranks) {
    const Modules of_rank = modules_of(trace, rank, choice);
    if (of_rank.in.paths.size() == 0) continue;
    std::int64_t rank_time = 0;
    for (const Row row : rank.device_rows())
      if (is_device_work(rank.events.kind[row]) && choice.includes(rank, row))
        report::add_to(rank_time, rank.events.duration(row));
    add_rank(out, rank, of_rank, rank_time);
    report::add_to(outside, of_rank.outside);
    report::add_to(device_time, rank_time);
  }
  if (out.table.rows() == 0)
    report.notes.emplace_back(
        "No nn.Module is recorded. Record with with_stack=True (TorchScript: with_modules=True).");
  else if (outside > 0)
    report.notes.push_back(
        (trace.several() ? "Some" : fmt::format("{:.1f} %", 100 * report::ratio(outside, device_time))) +
        " of the device time belongs to no module: launched outside of module calls, or by backward "
        "operators "
        "without a recorded forward operator.");
  report.tables.push_back(std::move(out.table));
  return report;
}

}  // namespace stepscope::analyze
