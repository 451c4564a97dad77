#include "analyze/host/module_paths.h"

#include <limits>

#include "derive/id_index.h"
#include "derive/kernel_class.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using derive::CallPaths;
using derive::kNoPath;
using derive::PathId;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::StringId;

constexpr std::string_view kModule = "nn.Module: ";

/// Finds the forward op of a backward op by their common sequence number.
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

  /// Among forward ops with equal numbers, keeps the innermost, which starts last.
  template <class InModule>
  void index(InModule in_module) {
    for (Row row = e_.size(); row-- > 0;)
      if (e_.kind[row] == Kind::op && in_module(row) && sequence_.has(row) && !is_backward(row))
        by_sequence_.add(key(row), row);
    by_sequence_.build();
  }
  Row of(Row backward) const { return by_sequence_.find(key(backward)); }

 private:
  /// Number + 1, because sequences start at 0 and the index does not take 0.
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
Column<Row> backward_above(const Rank& rank, ForwardOps& forward) {
  const EventTable& e = rank.events;
  Column<Row> above(e.size(), kNoRow);
  for (const Row row : rank.host_rows()) {
    if (!is_host_range(e.kind[row])) continue;
    above[row] = forward.is_backward(row) ? row : e.parent[row] == kNoRow ? kNoRow : above[e.parent[row]];
  }
  return above;
}

/// Reads paths from Python ranges "nn.Module: Name_n". A module that runs again below a backward op
/// (recomputation) has no parents there, so it is merged into the path that it has elsewhere.
void read_python_modules(const trace::Trace& trace, const Rank& rank, const StepChoice& choice,
                         const Column<Row>& backward, ModulePaths& out) {
  const EventTable& e = rank.events;
  trace::AskedOnce is_module(trace.strings, [](std::string_view name) { return name.starts_with(kModule); });
  trace::AskedOnce path_name(trace.strings, [&](std::string_view name) {
    return out.paths.names.intern(name.substr(kModule.size()));
  });
  std::vector<PathId> elsewhere;  // by name id in out.paths
  const auto name_of = [&](Row row) {
    const StringId name = path_name(e.name[row]);
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

/// Path of "top(Model)::forward.layer1(Sequential)::forward". Dots separate components, except inside
/// parentheses, where they belong to a class name.
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

/// Reads paths from the `Module Hierarchy` of ops: the host time of a module is that of its ops.
void read_module_hierarchy(const trace::Trace& trace, const Rank& rank, const StepChoice& choice,
                           ModulePaths& out) {
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

/// By row, for ranges at or below a backward op: the path of the forward op.
Column<PathId> forward_paths(const Rank& rank, ForwardOps& forward, const Column<Row>& backward,
                             const Column<PathId>& path) {
  const EventTable& e = rank.events;
  forward.index([&](Row row) { return path[row] != kNoPath; });
  Column<PathId> out(e.size(), kNoPath);
  for (const Row row : rank.host_rows()) {
    if (backward[row] == kNoRow || path[row] != kNoPath) continue;
    const Row above = e.parent[row];
    if (backward[row] != row && above != kNoRow) {
      out[row] = out[above];
    } else if (const Row of = forward.of(backward[row]); of != kNoRow) {
      out[row] = path[of];
    }
  }
  return out;
}

}  // namespace

ModulePaths module_paths(const trace::Trace& trace, const Rank& rank, const StepChoice& choice) {
  ModulePaths out;
  ForwardOps forward(trace, rank);
  const Column<Row> backward = backward_above(rank, forward);
  read_python_modules(trace, rank, choice, backward, out);
  if (out.paths.size() == 0) {
    out.counts_calls = false;
    read_module_hierarchy(trace, rank, choice, out);
  }
  // Sums up the tree, so that a module merged into another path counts in the totals of that path.
  out.host.total = out.host.self;
  out.paths.add_up(out.host.total);
  out.backward = forward_paths(rank, forward, backward, out.host.path);
  return out;
}

std::string_view class_of_module(std::string_view module) {
  const std::size_t open = module.find('(');
  if (open != std::string_view::npos && module.ends_with(')'))
    return module.substr(open + 1, module.size() - open - 2);
  const std::size_t digits = module.find_last_not_of("0123456789");
  return digits != std::string_view::npos && digits + 1 < module.size() && module[digits] == '_'
             ? module.substr(0, digits)
             : module;
}

}  // namespace stepscope::analyze
