// What each nn.Module took on the host and on the device, forward and backward, as a tree.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "analyze/list.h"
#include "analyze/question.h"
#include "derive/call_paths.h"
#include "derive/id_index.h"
#include "derive/kernel_class.h"
#include "report/statistics.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using derive::CallPaths;
using derive::HostPaths;
using derive::kNoPath;
using derive::PathId;
using report::kNoInt;
using report::Role;
using report::Shape;
using report::Unit;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::StringId;

constexpr std::string_view kModule = "nn.Module: ";

struct Modules {
  CallPaths paths;
  HostPaths host;
  bool counts_calls = false;
  std::vector<std::int64_t> device_self, backward_self;
  std::int64_t outside = 0;  ///< device time that belongs to no module
};

/// Backward ops know the forward op they belong to by its sequence number.
class ForwardOps {
 public:
  ForwardOps(const trace::Trace& trace, const Rank& rank)
      : e_(rank.events),
        sequence_(trace, rank, "Sequence number"),
        forward_thread_(trace, rank, "Fwd thread id"),
        is_function_(trace.strings, derive::is_autograd_node) {}

  bool is_backward(Row row) {
    return e_.kind[row] == Kind::op && sequence_.has(row) &&
           (forward_thread_.integer_or(row, 0) > 0 || is_function_(e_.name[row]));
  }

  /// Of forward ops with equal numbers the innermost, which starts last, is kept.
  template <class InModule>
  void index(InModule in_module) {
    for (Row row = e_.size(); row-- > 0;)
      if (e_.kind[row] == Kind::op && in_module(row) && sequence_.has(row) && !is_backward(row))
        by_sequence_.add(key(row), row);
    by_sequence_.build();
  }
  Row of(Row backward) const { return by_sequence_.find(key(backward)); }

 private:
  /// The index does not take 0, a sequence starts with it.
  std::int64_t key(Row row) const {
    const std::int64_t number = sequence_.integer_or(row, -1);
    return number >= 0 && number < std::numeric_limits<std::int64_t>::max() ? number + 1 : 0;
  }
  const EventTable& e_;
  trace::ArgReader sequence_, forward_thread_;
  trace::AskedOnce<bool (*)(std::string_view)> is_function_;
  derive::IdIndex by_sequence_;
};

/// By host range: the nearest backward op at or above it, kNoRow if there is none.
std::vector<Row> backward_above(const Rank& rank, ForwardOps& forward) {
  const EventTable& e = rank.events;
  std::vector<Row> above(e.size(), kNoRow);
  for (const Row row : rank.host_rows()) {
    if (!is_host_range(e.kind[row])) continue;
    above[row] = forward.is_backward(row) ? row : e.parent[row] == kNoRow ? kNoRow : above[e.parent[row]];
  }
  return above;
}

/// From Python ranges "nn.Module: Name_n". A module that runs again below a backward op (recomputation) has
/// lost its parents there: it is joined to the path it has elsewhere.
void read_python_modules(const trace::Trace& trace, const Rank& rank, const StepChoice& choice,
                         const std::vector<Row>& backward, Modules& out) {
  const EventTable& e = rank.events;
  trace::AskedOnce is_module(trace.strings, [](std::string_view name) { return name.starts_with(kModule); });
  std::vector<StringId> known(trace.strings.size(), trace::kNoString);
  std::vector<PathId> elsewhere;  // by name id of the paths
  const auto name_of = [&](Row row) {
    StringId& name = known[e.name[row]];
    if (name == trace::kNoString)
      name = out.paths.names.intern(trace.text(e.name[row]).substr(kModule.size()));
    if (name >= elsewhere.size()) elsewhere.resize(name + 1, kNoPath);
    return name;
  };
  const auto wanted = [&](Row row) {
    return e.kind[row] == Kind::python && is_module(e.name[row]) && choice.includes(rank, row);
  };
  host_paths(rank, out.paths, [&](Row row, PathId above) {
    if (!wanted(row) || (above == kNoPath && backward[row] != kNoRow)) return kNoPath;
    const StringId name = name_of(row);
    const PathId path = out.paths.child(above, name);
    if (elsewhere[name] == kNoPath) elsewhere[name] = path;
    return path;
  });
  out.host = host_paths(rank, out.paths, [&](Row row, PathId above) {
    if (!wanted(row)) return kNoPath;
    const StringId name = name_of(row);
    if (above == kNoPath && backward[row] != kNoRow && elsewhere[name] != kNoPath) return elsewhere[name];
    return out.paths.child(above, name);
  });
  out.counts_calls = true;
}

/// Components of "top(Model)::forward.layer1(Sequential)::forward": dots inside parentheses are part of a
/// class.
PathId hierarchy_path(CallPaths& paths, std::string_view text) {
  PathId path = kNoPath;
  int open = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size()) {
      open += text[at] == '(' ? 1 : text[at] == ')' && open > 0 ? -1 : 0;
      if (text[at] != '.' || open > 0) continue;
    }
    const std::string_view part = text.substr(begin, at - begin);
    if (!part.empty()) path = paths.child(path, paths.names.intern(part.substr(0, part.find("::"))));
    begin = at + 1;
  }
  return path;
}

/// From the `Module Hierarchy` of ops: a module's host time is that of its ops.
void read_module_hierarchy(const trace::Trace& trace, const Rank& rank, const StepChoice& choice,
                           Modules& out) {
  const trace::ArgReader hierarchy(trace, rank, "Module Hierarchy");
  std::vector<PathId> known(trace.strings.size(), kNoPath);
  out.host = host_paths(rank, out.paths, [&](Row row, PathId) {
    const StringId text = rank.events.kind[row] == Kind::op && choice.includes(rank, row)
                              ? hierarchy.id(row)
                              : trace::kEmptyString;
    if (text == trace::kEmptyString) return kNoPath;
    if (known[text] == kNoPath) known[text] = hierarchy_path(out.paths, trace.text(text));
    return known[text];
  });
}

void add_device_time(const Rank& rank, const StepChoice& choice, ForwardOps& forward,
                     const std::vector<Row>& backward, Modules& out) {
  const EventTable& e = rank.events;
  forward.index([&](Row row) { return out.host.path[row] != kNoPath; });
  out.device_self.assign(out.paths.size(), 0);
  out.backward_self.assign(out.paths.size(), 0);
  for (const Row row : rank.device_rows()) {
    if (!is_device_work(e.kind[row]) || !choice.includes(rank, row)) continue;
    const Row from = derive::launched_from(e, row);
    const std::int64_t duration = e.duration(row);
    if (from != kNoRow && out.host.path[from] != kNoPath) {
      report::add_to(out.device_self[out.host.path[from]], duration);
      continue;
    }
    const Row function = from == kNoRow ? kNoRow : backward[from];
    const Row of = function == kNoRow ? kNoRow : forward.of(function);
    report::add_to(of == kNoRow ? out.outside : out.backward_self[out.host.path[of]], duration);
  }
}

Modules modules_of(const trace::Trace& trace, const Rank& rank, const StepChoice& choice) {
  Modules out;
  ForwardOps forward(trace, rank);
  const std::vector<Row> backward = backward_above(rank, forward);
  read_python_modules(trace, rank, choice, backward, out);
  if (out.paths.size() == 0) {
    out.counts_calls = false;
    read_module_hierarchy(trace, rank, choice, out);
  }
  // Summed from below, so that a module joined to its path elsewhere is in the totals there.
  out.host.total = out.host.self;
  out.paths.add_up(out.host.total);
  add_device_time(rank, choice, forward, backward, out);
  return out;
}

/// "Linear_3" → "Linear"; "layer1(torch.Sequential)" → "torch.Sequential".
std::string_view class_of(std::string_view module) {
  const std::size_t open = module.find('(');
  if (open != std::string_view::npos && module.ends_with(')'))
    return module.substr(open + 1, module.size() - open - 2);
  const std::size_t digits = module.find_last_not_of("0123456789");
  return digits != std::string_view::npos && digits + 1 < module.size() && module[digits] == '_'
             ? module.substr(0, digits)
             : module;
}

struct Columns {
  explicit Columns(const trace::Trace& trace)
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

void add_rank(Columns& out, const Rank& rank, const Modules& modules, std::int64_t device_time) {
  const bool has_device = device_time > 0;
  std::vector<std::int64_t> device = modules.device_self, backward = modules.backward_self;
  modules.paths.add_up(device);
  modules.paths.add_up(backward);
  std::vector<std::int64_t> weight(modules.paths.size());
  for (PathId path = 0; path < weight.size(); ++path)
    weight[path] = has_device ? report::plus(device[path], backward[path]) : modules.host.total[path];
  for (const PathId path : modules.paths.preorder(weight)) {
    const std::string_view name = modules.paths.name(path);
    out.rank.add(rank);
    out.module.emplace_back(name);
    out.kind.emplace_back(class_of(name));
    out.depth.push_back(modules.paths.depth(path));
    out.calls.push_back(modules.counts_calls ? modules.host.calls[path] : kNoInt);
    out.host_total.push_back(modules.host.total[path]);
    out.host_self.push_back(modules.host.self[path]);
    out.device_total.push_back(has_device ? device[path] : kNoInt);
    out.device_self.push_back(has_device ? modules.device_self[path] : kNoInt);
    out.backward.push_back(has_device ? backward[path] : kNoInt);
    out.backward_self.push_back(has_device ? modules.backward_self[path] : kNoInt);
    out.share.push_back(report::ratio(report::plus(device[path], backward[path]), device_time));
  }
}

}  // namespace

constinit const About modules_about = {
    R"(Modules are Python ranges named `nn.Module: …`, nested as they called each other; where there are none, the `Module Hierarchy` of operators.
Rows come in pre-order, siblings by device time (host time without a device); a row is identified by its names from the root down.

| column | meaning |
|---|---|
| module, class | instance name with its number, and the name without |
| depth | 0 for a module that no module calls |
| calls | calls merged; empty with `Module Hierarchy` |
| host_self | time in the calls without the modules called, ns; with `Module Hierarchy` the time of the module's own operators |
| host_total | host_self and that of all modules below |
| device_self | sum of the durations of the device events launched inside the calls and not inside a module called, ns; a module that runs again in the backward pass (recomputation) counts where it ran in the forward pass. Events that run at the same time count each |
| device_total | device_self and that of all modules below |
| backward_device_self | the same of events launched by backward operators outside any module, by the module of their forward operator (equal `Sequence number`; of several the one that started last) |
| backward_device | backward_device_self and that of all modules below |
| device_share | (device_total + backward_device) / sum of the durations of all device events of the rank |)",
    {}};

report::Report modules(const trace::Trace& trace, const report::Params& params) {
  const StepChoice choice(params);
  Columns out(trace);
  report::Report report{"modules", {}, {}};
  std::int64_t outside = 0, device_time = 0;
  for (const Rank& rank : trace.ranks) {
    const Modules of_rank = modules_of(trace, rank, choice);
    if (of_rank.paths.size() == 0) continue;
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
