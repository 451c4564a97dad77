// Host and device time of each nn.Module, forward and backward, as a tree.
#include <fmt/format.h>

#include "analyze/derived.h"
#include "analyze/host/module_paths.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "derive/call_paths.h"
#include "derive/captured_ops.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::kNoPath;
using derive::PathId;
using report::kNoInt;
using report::Role;
using report::Unit;
using trace::EventTable;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

struct Modules {
  ModulePaths in;
  std::vector<std::int64_t> device_self, backward_self;
  std::int64_t outside = 0;  ///< device time that belongs to no module
  std::int64_t device = 0;   ///< all device time
};

Modules modules_of(const trace::Trace& trace, const Rank& rank, const StepChoice& choice) {
  const EventTable& e = rank.events;
  Modules out{module_paths(trace, rank, choice), {}, {}};
  out.device_self.assign(out.in.paths.size(), 0);
  out.backward_self.assign(out.in.paths.size(), 0);
  const derive::CapturedOps captured(trace, rank);
  for (const Row row : rank.device_rows()) {
    if (!is_device_work(e.kind[row]) || !choice.includes(rank, row)) continue;
    const Row maker = captured.of(row);
    const Row from = maker != kNoRow ? maker : derive::launched_from(e, row);
    const PathId own = from == kNoRow ? kNoPath : out.in.host.path[from];
    const PathId forward = from == kNoRow ? kNoPath : out.in.backward[from];
    std::int64_t& sum = own != kNoPath       ? out.device_self[own]
                        : forward != kNoPath ? out.backward_self[forward]
                                             : out.outside;
    report::add_to(sum, e.duration(row));
    report::add_to(out.device, e.duration(row));
  }
  return out;
}

/// One module at one place of the tree. Times in ns; device times are report::kNoInt if none are recorded.
struct ModuleTimes {
  std::int64_t rank;
  std::string name;
  std::int64_t depth;
  std::int64_t calls;  ///< report::kNoInt if calls are not recorded
  std::int64_t host_total, host_self, device_total, device_self, backward, backward_self;
  double share;  ///< forward and backward device time / all device time
};

void add_rank(std::vector<ModuleTimes>& rows, const Rank& rank, const Modules& modules) {
  const ModulePaths& in = modules.in;
  std::vector<std::int64_t> device = modules.device_self, backward = modules.backward_self;
  in.paths.add_up(device);
  in.paths.add_up(backward);
  const bool has_device = modules.device > 0;
  const auto known = [&](std::int64_t device_time) { return has_device ? device_time : kNoInt; };
  std::vector<std::int64_t> both(in.paths.size());
  for (PathId path = 0; path < both.size(); ++path) both[path] = report::plus(device[path], backward[path]);
  for (const PathId path : in.paths.preorder(has_device ? both : in.host.total))
    rows.push_back({rank.rank, std::string(in.paths.name(path)), in.paths.depth(path),
                    in.counts_calls ? in.host.calls[path] : kNoInt, in.host.total[path], in.host.self[path],
                    known(device[path]), known(modules.device_self[path]), known(backward[path]),
                    known(modules.backward_self[path]), report::ratio(both[path], modules.device)});
}

const report::Sheet<ModuleTimes> kModuleSheet{
    "Modules",
    report::Shape::tree,
    {report::rank_field<ModuleTimes>(&ModuleTimes::rank),
     {"module", &ModuleTimes::name},
     {"class", +[](const ModuleTimes& of) { return std::string(class_of_module(of.name)); }, Role::detail},
     {"depth", &ModuleTimes::depth, Unit::none, Role::depth},
     {"calls", &ModuleTimes::calls, Unit::count},
     {"host_total", &ModuleTimes::host_total, Unit::ns},
     {"host_self", &ModuleTimes::host_self, Unit::ns},
     {"device_total", &ModuleTimes::device_total, Unit::ns},
     {"device_self", &ModuleTimes::device_self, Unit::ns},
     {"backward_device", &ModuleTimes::backward, Unit::ns},
     {"backward_device_self", &ModuleTimes::backward_self, Unit::ns, Role::detail},
     {"device_share", &ModuleTimes::share, Unit::share, Role::share}}};

}  // namespace

constinit const About modules_about = {};

report::Report modules(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  const StepChoice choice(params);
  std::vector<ModuleTimes> rows;
  std::vector<std::string> notes;
  std::int64_t outside = 0, device = 0;
  for (const Rank& rank : trace.ranks) {
    const Modules of_rank = modules_of(trace, rank, choice);
    if (of_rank.in.paths.size() == 0) continue;
    add_rank(rows, rank, of_rank);
    report::add_to(outside, of_rank.outside);
    report::add_to(device, of_rank.device);
  }
  if (rows.empty())
    notes.emplace_back(
        "No nn.Module is recorded. Record with with_stack=True (TorchScript: with_modules=True).");
  else if (outside > 0)
    notes.push_back(
        (trace.several() ? "Some" : fmt::format("{:.1f} %", 100 * report::ratio(outside, device))) +
        " of the device time belongs to no module: it was launched outside of module calls, or by backward "
        "operators without a recorded forward operator.");
  return {"modules", {tabulate(kModuleSheet, rows, trace.several())}, std::move(notes)};
}

}  // namespace stepscope::analyze
