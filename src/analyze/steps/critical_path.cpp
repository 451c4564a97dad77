// The longest chain of calls and device events of a step: what has to be faster for the step to be.
#include "analyze/steps/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/idle/device_spans.h"
#include "analyze/list.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using hta::EdgeType;
using hta::PathEdge;
using report::Role;
using report::Shape;
using report::Table;
using report::Unit;
using timeline::Time;

/// What limits a stretch of the path; "" for waits, which take no time of their own.
std::string_view bound_by(const trace::Trace& trace, const RankPath& of, const PathEdge& edge, bool compat) {
  if (edge.type == EdgeType::kernel_delay) return "gpu_kernel_kernel_overhead";
  if (edge.type == EdgeType::launch_delay) return "gpu_kernel_launch_overhead";
  if (edge.type != EdgeType::op || edge.event < 0) return "";
  const hta::Event& event = of.rows.events[static_cast<std::size_t>(edge.event)];
  if (event.stream == -1) return "cpu_bound";
  const bool communicates =
      compat ? hta::kernel_type(trace.name(*of.rows.rank, event.row)) == KernelType::communication
             : of.rows.rank->events.work[event.row] == trace::Work::communication;
  return communicates ? "gpu_communication_bound" : "gpu_compute_bound";
}

Table bounds(const trace::Trace& trace, const std::vector<RankPath>& ranks, bool compat) {
  Table table{"The path by what it is bound by", Shape::bars, {}};
  RankColumn rank(table, trace);
  auto& kind = table.texts("bound_by");
  auto& time = table.ints("time", Unit::ns);
  auto& share = table.reals("share", Unit::share, Role::share);
  for (const RankPath& of : ranks) {
    std::map<std::string_view, Time> times;
    Time whole = 0;
    for (const std::int32_t at : of.graph.path_edges) {
      const PathEdge& edge = of.graph.edges[static_cast<std::size_t>(at)];
      report::add_to(times[bound_by(trace, of, edge, compat)], edge.weight);
      report::add_to(whole, edge.weight);
    }
    for (const auto& [name, length] : times) {
      if (name.empty()) continue;
      rank.add(*of.rows.rank);
      kind.emplace_back(name);
      time.push_back(length);
      share.push_back(report::ratio(length, whole));
    }
  }
  return table;
}

Table graph_facts(const trace::Trace& trace, const std::vector<RankPath>& ranks) {
  Table table{"Edges", Shape::table, {}};
  RankColumn rank(table, trace);
  auto& type = table.texts("type");
  auto& count = table.ints("edges", Unit::count);
  auto& weight = table.ints("weight", Unit::ns);
  auto& on_path = table.ints("on_path", Unit::count);
  auto& path_weight = table.ints("path_weight", Unit::ns);
  for (const RankPath& of : ranks) {
    struct Sums {
      std::int64_t edges = 0, on_path = 0;
      Time weight = 0, path_weight = 0;
    };
    std::map<EdgeType, Sums> sums;
    for (const PathEdge& edge : of.graph.edges) {
      ++sums[edge.type].edges;
      report::add_to(sums[edge.type].weight, edge.weight);
    }
    for (const std::int32_t at : of.graph.path_edges) {
      const PathEdge& edge = of.graph.edges[static_cast<std::size_t>(at)];
      ++sums[edge.type].on_path;
      report::add_to(sums[edge.type].path_weight, edge.weight);
    }
    for (const auto& [kind, of_kind] : sums) {
      rank.add(*of.rows.rank);
      type.emplace_back(hta::name_of(kind));
      count.push_back(of_kind.edges);
      weight.push_back(of_kind.weight);
      on_path.push_back(of_kind.on_path);
      path_weight.push_back(of_kind.path_weight);
    }
  }
  return table;
}

Table path(const trace::Trace& trace, const std::vector<RankPath>& ranks, bool compat) {
  Table table{"Critical path", Shape::table, {}};
  RankColumn rank(table, trace);
  auto& start = table.ints("start", Unit::ns, Role::key);
  auto& time = table.ints("time", Unit::ns);
  auto& type = table.texts("type", Role::value);
  auto& kind = table.texts("bound_by", Role::value);
  auto& name = table.texts("name", Role::value);
  auto& id = table.ints("event", Unit::none, Role::detail);
  for (const RankPath& of : ranks) {
    for (const std::int32_t at : of.graph.path_edges) {
      const PathEdge& edge = of.graph.edges[static_cast<std::size_t>(at)];
      rank.add(*of.rows.rank);
      start.push_back(of.graph.nodes[static_cast<std::size_t>(edge.from)].time);
      time.push_back(edge.weight);
      type.emplace_back(hta::name_of(edge.type));
      kind.emplace_back(bound_by(trace, of, edge, compat));
      const hta::Event* event =
          edge.event < 0 ? nullptr : &of.rows.events[static_cast<std::size_t>(edge.event)];
      name.emplace_back(event == nullptr ? "" : trace.name(*of.rows.rank, event->row));
      id.push_back(event == nullptr ? report::kNoInt : of.rows.rank->events.source[event->row]);
    }
  }
  return table;
}

Table nodes(const trace::Trace& trace, const std::vector<RankPath>& ranks) {
  Table table{"Events on the path", Shape::table, {}};
  RankColumn rank(table, trace);
  auto& id = table.ints("event", Unit::none, Role::key);
  auto& time = table.ints("time", Unit::ns);
  auto& end = table.texts("end", Role::value);
  for (const RankPath& of : ranks)
    for (const std::int32_t at : of.graph.path) {
      const hta::PathNode& node = of.graph.nodes[static_cast<std::size_t>(at)];
      rank.add(*of.rows.rank);
      id.push_back(of.rows.rank->events.source[of.rows.events[static_cast<std::size_t>(node.event)].row]);
      time.push_back(node.time);
      end.emplace_back(node.end ? "end" : "begin");
    }
  return table;
}

constexpr report::ParamSpec kCriticalPathParams[] = {
    {"annotation", report::ParamSpec::Type::text, "ProfilerStep", "",
     "the range to look at: one whose name holds this text; all for the whole recording"},
    {"instance", report::ParamSpec::Type::steps, "0", "",
     "which of these ranges, from 0; 2-4: from the first of these to the last"},
    kHtaCompat,
    kHtaLastStep};

/// One sentence on ranges that were chosen and are not there, or "".
std::string unfound(const hta::Ranges& ranges, std::int64_t named) {
  const auto [first, last] = ranges.instances;
  if (last < named) return "";
  if (named == 0)
    return fmt::format(
        "No range has a name that holds '{}': `stepscope show user_annotations` lists the ranges, "
        "--annotation "
        "all takes the whole recording.",
        ranges.annotation);
  return fmt::format("There is no range number {}: {} {} a name that holds '{}'; their numbers are 0 to {}.",
                     std::max(first, named), named, named == 1 ? "range has" : "ranges have",
                     ranges.annotation, named - 1);
}

}  // namespace

constinit const About critical_path_about = {kCriticalPathParams, false};

std::vector<RankPath> critical_paths(const trace::Trace& trace, const report::Params& params,
                                     std::vector<std::string>& notes, const trace::Rank* only) {
  const bool compat = params.flag("hta-compat");
  const std::string_view asked = params.text("annotation", "ProfilerStep");
  const hta::Ranges ranges{asked == "all" ? "" : asked, params.range("instance", {0, 0})};
  std::vector<RankPath> ranks;
  if (compat)
    for (hta::Table& table : hta::tables_of(trace, hta::keep_of(params)))
      ranks.push_back({std::move(table), {}});
  else
    for (const trace::Rank& rank : trace.ranks)
      if (only == nullptr || only == &rank) ranks.push_back({hta::exact_table(trace, rank), {}});
  if (only != nullptr) std::erase_if(ranks, [&](const RankPath& of) { return of.rows.rank != only; });
  for (RankPath& of : ranks) {
    of.graph = hta::critical_path(trace, of.rows, ranges, compat);
    const std::int64_t named = of.graph.ranges;
    std::string note = ranges.annotation.empty() ? "" : unfound(ranges, named);
    if (named == 0 && !ranges.annotation.empty() && !params.has("annotation") &&
        ranges.instances.first == 0) {
      of.graph = hta::critical_path(trace, of.rows, {}, compat);
      note = "No profiler step is marked: this is the path of the whole recording.";
    }
    if (!note.empty() && std::find(notes.begin(), notes.end(), note) == notes.end())
      notes.push_back(std::move(note));
  }
  return ranks;
}

report::Report critical_path(const trace::Trace& trace, const report::Params& params) {
  const bool compat = params.flag("hta-compat");
  report::Report report{"critical_path", {}, {}};
  const std::vector<RankPath> ranks = critical_paths(trace, params, report.notes);
  report.tables.push_back(bounds(trace, ranks, compat));
  report.tables.push_back(graph_facts(trace, ranks));
  report.tables.push_back(path(trace, ranks, compat));
  report.tables.push_back(nodes(trace, ranks));
  return report;
}

}  // namespace stepscope::analyze
