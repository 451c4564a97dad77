// Which sequences of kernels an operator launches again and again.
#include <algorithm>
#include <limits>
#include <map>

#include "analyze/hta/call_graph.h"
#include "analyze/idle/device_spans.h"
#include "analyze/list.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Shape;
using report::Unit;
using timeline::Time;
using trace::Row;

/// A call or a device event: what it lies in, how deep, and how many device events lie below it.
struct Item {
  Row row;
  std::int32_t parent, depth;
  Time start, length;
  std::int64_t kernels = 0;
  bool device = false;
};

struct Items {
  const trace::Rank* rank;
  std::vector<Item> items;
};

Items hta_items(const trace::Trace& trace, const hta::Table& table) {
  Items out{table.rank, {}};
  const std::vector<hta::Node> nodes = hta::call_graph(trace, table);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const hta::Event& event = table.events[i];
    out.items.push_back({event.row, nodes[i].parent, nodes[i].depth, event.start, event.length,
                         nodes[i].kernels, event.stream != -1});
  }
  return out;
}

Items own_items(const trace::Rank& rank, const StepChoice& choice) {
  Items out{&rank, {}};
  const auto& e = rank.events;
  for (Row row = 0; row < e.size(); ++row) {
    const bool device = is_device_work(e.kind[row]) && choice.includes(rank, row);
    const Row parent = device ? e.launch[row] : e.parent[row];
    out.items.push_back({row, parent == trace::kNoRow ? -1 : static_cast<std::int32_t>(parent), e.depth[row],
                         e.start[row], e.duration(row), 0, device});
  }
  for (std::size_t i = out.items.size(); i-- > 0;) {
    Item& item = out.items[i];
    item.kernels += item.device;
    // Rows of devices are behind those of the host, and what a call holds is behind the call.
    if (item.parent >= 0 && static_cast<std::size_t>(item.parent) < i)
      out.items[static_cast<std::size_t>(item.parent)].kernels += item.kernels;
  }
  return out;
}

struct Pattern {
  std::int64_t count = 0;
  Time kernels = 0, calls = 0;
};

/// The operator's outermost calls that launch enough.
std::vector<bool> roots_of(const trace::Trace& trace, const Items& all, std::string_view name,
                           std::int64_t least) {
  trace::AskedOnce named(trace.strings,
                         [&](std::string_view text) { return text.find(name) != std::string_view::npos; });
  std::vector<bool> roots(all.items.size());
  std::int32_t outermost = std::numeric_limits<std::int32_t>::max();
  for (const int pass : {0, 1}) {
    for (std::size_t i = 0; i < all.items.size(); ++i) {
      const Item& item = all.items[i];
      if (item.device || item.depth < 0 || !named(all.rank->events.name[item.row])) continue;
      if (pass == 0) outermost = std::min(outermost, item.depth);
      if (pass == 1) roots[i] = item.depth == outermost && item.kernels >= least;
    }
  }
  return roots;
}

/// For each item the root it lies in, -1 for none.
std::vector<std::int32_t> root_of_each(const Items& all, const std::vector<bool>& roots) {
  constexpr std::int32_t kUnknown = -2;
  std::vector<std::int32_t> root(all.items.size(), kUnknown);
  std::vector<std::int32_t> path;
  for (std::size_t i = 0; i < all.items.size(); ++i) {
    auto at = static_cast<std::int32_t>(i);
    for (path.clear(); at >= 0 && root[static_cast<std::size_t>(at)] == kUnknown;
         at = all.items[static_cast<std::size_t>(at)].parent) {
      if (roots[static_cast<std::size_t>(at)]) {
        root[static_cast<std::size_t>(at)] = at;
        break;
      }
      path.push_back(at);
    }
    const std::int32_t found = at < 0 ? -1 : root[static_cast<std::size_t>(at)];
    for (const std::int32_t below : path) root[static_cast<std::size_t>(below)] = found;
  }
  return root;
}

void add_patterns(std::map<std::string, Pattern>& patterns, const trace::Trace& trace, const Items& all,
                  std::string_view name, std::int64_t least) {
  const std::vector<bool> roots = roots_of(trace, all, name, least);
  const std::vector<std::int32_t> root = root_of_each(all, roots);
  std::map<std::int32_t, std::vector<std::size_t>> kernels;
  for (std::size_t i = 0; i < all.items.size(); ++i)
    if (all.items[i].device && root[i] >= 0) kernels[root[i]].push_back(i);
  for (auto& [at, below] : kernels) {
    std::stable_sort(below.begin(), below.end(),
                     [&](std::size_t a, std::size_t b) { return all.items[a].start < all.items[b].start; });
    const Item& call = all.items[static_cast<std::size_t>(at)];
    std::string text(trace.name(*all.rank, call.row));
    Time time = 0;
    for (const std::size_t kernel : below) {
      text += '|';
      text += trace.name(*all.rank, all.items[kernel].row);
      time += all.items[kernel].length;
    }
    Pattern& pattern = patterns[std::move(text)];
    ++pattern.count;
    pattern.kernels += time;
    pattern.calls += call.length;
  }
}

constexpr report::ParamSpec kKernelSequencesParams[] = {
    {"operator", report::ParamSpec::Type::text, "aten::", "", "operators whose name contains this text"},
    {"least", report::ParamSpec::Type::integer, "3", "", "the fewest device events of a sequence"},
    kHtaCompat,
    kHtaLastStep};

}  // namespace

constinit const About kernel_sequences_about = {kKernelSequencesParams, false};

report::Report kernel_sequences(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  report::Report report{"kernel_sequences", {}, {}};
  report::Table& table = report.tables.emplace_back(report::Table{"Sequences", Shape::table, {}});
  RankColumn rank(table, trace);
  auto& pattern = table.texts("sequence");
  auto& count = table.ints("count", Unit::count);
  auto& kernel_time = table.ints("kernel_time", Unit::ns);
  auto& call_time = table.ints("call_time", Unit::ns);
  const auto add = [&](const Items& all) {
    std::map<std::string, Pattern> patterns;
    add_patterns(patterns, trace, all, params.text("operator", "aten::"), params.integer("least", 3));
    std::vector<std::pair<std::string, Pattern>> rows(patterns.begin(), patterns.end());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
    for (auto& [text, found] : rows) {
      rank.add(*all.rank);
      pattern.push_back(std::move(text));
      count.push_back(found.count);
      kernel_time.push_back(found.kernels);
      call_time.push_back(found.calls);
    }
  };
  if (params.flag("hta-compat"))
    for (const hta::Table& of : derived.hta(hta::keep_of(params))) add(hta_items(trace, of));
  else
    for (const trace::Rank& of : trace.ranks) add(own_items(of, derived.choice()));
  if (table.rows() == 0)
    report.notes.emplace_back(
        "No operator of this name launches that many device events in one call: try another --operator or a "
        "smaller "
        "--least.");
  return report;
}

}  // namespace stepscope::analyze
