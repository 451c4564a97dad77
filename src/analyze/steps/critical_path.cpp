// The longest chain of calls and device events of a step: what has to be faster for the step to be.
#include "analyze/steps/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/idle/device_spans.h"
#include "analyze/list.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using hta::EdgeType;
using hta::PathEdge;
using report::Role;
using report::Shape;
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

/// Weight of the path by what it is bound by; `share` of the whole path.
struct PathBound {
  std::int64_t rank;
  std::string_view bound_by;
  Time time;
  double share;
};

std::vector<PathBound> bounds(const trace::Trace& trace, const std::vector<RankPath>& ranks, bool compat) {
  std::vector<PathBound> bounds;
  for (const RankPath& of : ranks) {
    std::map<std::string_view, Time> times;
    Time whole = 0;
    for (const std::int32_t at : of.graph.path_edges) {
      const PathEdge& edge = of.graph.edges[static_cast<std::size_t>(at)];
      report::add_to(times[bound_by(trace, of, edge, compat)], edge.weight);
      report::add_to(whole, edge.weight);
    }
    for (const auto& [name, time] : times)
      if (!name.empty()) bounds.push_back({of.rows.rank->rank, name, time, report::ratio(time, whole)});
  }
  return bounds;
}

/// Edges of one type: of the whole graph and on the path.
struct EdgeSums {
  std::int64_t rank = -1;
  EdgeType type = EdgeType::op;
  std::int64_t edges = 0, on_path = 0;
  Time weight = 0, path_weight = 0;
};

std::vector<EdgeSums> edge_sums(const std::vector<RankPath>& ranks) {
  std::vector<EdgeSums> all;
  for (const RankPath& of : ranks) {
    std::map<EdgeType, EdgeSums> sums;
    for (const PathEdge& edge : of.graph.edges) {
      ++sums[edge.type].edges;
      report::add_to(sums[edge.type].weight, edge.weight);
    }
    for (const std::int32_t at : of.graph.path_edges) {
      const PathEdge& edge = of.graph.edges[static_cast<std::size_t>(at)];
      ++sums[edge.type].on_path;
      report::add_to(sums[edge.type].path_weight, edge.weight);
    }
    for (auto& [type, sum] : sums) {
      sum.rank = of.rows.rank->rank;
      sum.type = type;
      all.push_back(sum);
    }
  }
  return all;
}

/// One edge of the path; `event` is report::kNoInt and `name` "" where no event stands for it.
struct PathStretch {
  std::int64_t rank;
  Time start, time;
  EdgeType type;
  std::string_view bound_by, name;
  std::int64_t event;
};

std::vector<PathStretch> stretches(const trace::Trace& trace, const std::vector<RankPath>& ranks,
                                   bool compat) {
  std::vector<PathStretch> stretches;
  for (const RankPath& of : ranks) {
    for (const std::int32_t at : of.graph.path_edges) {
      const PathEdge& edge = of.graph.edges[static_cast<std::size_t>(at)];
      PathStretch& stretch = stretches.emplace_back(
          PathStretch{of.rows.rank->rank, of.graph.nodes[static_cast<std::size_t>(edge.from)].time,
                      edge.weight, edge.type, bound_by(trace, of, edge, compat), "", report::kNoInt});
      if (edge.event < 0) continue;
      const trace::Row row = of.rows.events[static_cast<std::size_t>(edge.event)].row;
      stretch.name = trace.name(*of.rows.rank, row);
      stretch.event = of.rows.rank->events.source[row];
    }
  }
  return stretches;
}

/// The begin or the end of an event that is on the path.
struct PathPoint {
  std::int64_t rank, event;
  Time time;
  bool end;
};

std::vector<PathPoint> points(const std::vector<RankPath>& ranks) {
  std::vector<PathPoint> points;
  for (const RankPath& of : ranks)
    for (const std::int32_t at : of.graph.path) {
      const auto& node = of.graph.nodes[static_cast<std::size_t>(at)];
      const trace::Row row = of.rows.events[static_cast<std::size_t>(node.event)].row;
      points.push_back({of.rows.rank->rank, of.rows.rank->events.source[row], node.time, node.end});
    }
  return points;
}

const report::Sheet<PathBound> kBoundSheet{"The path by what it is bound by",
                                           Shape::bars,
                                           {report::rank_field<PathBound>(&PathBound::rank),
                                            {"bound_by", &PathBound::bound_by},
                                            {"time", &PathBound::time, Unit::ns},
                                            {"share", &PathBound::share, Unit::share, Role::share}}};

const report::Sheet<EdgeSums> kEdgeSheet{"Edges",
                                         Shape::table,
                                         {report::rank_field<EdgeSums>(&EdgeSums::rank),
                                          {"type", report::named<&EdgeSums::type>},
                                          {"edges", &EdgeSums::edges, Unit::count},
                                          {"weight", &EdgeSums::weight, Unit::ns},
                                          {"on_path", &EdgeSums::on_path, Unit::count},
                                          {"path_weight", &EdgeSums::path_weight, Unit::ns}}};

const report::Sheet<PathStretch> kPathSheet{"Critical path",
                                            Shape::table,
                                            {report::rank_field<PathStretch>(&PathStretch::rank),
                                             {"start", &PathStretch::start, Unit::ns, Role::key},
                                             {"time", &PathStretch::time, Unit::ns},
                                             {"type", report::named<&PathStretch::type>, Role::value},
                                             {"bound_by", &PathStretch::bound_by, Role::value},
                                             {"name", &PathStretch::name, Role::value},
                                             {"event", &PathStretch::event, Unit::none, Role::detail}}};

const report::Sheet<PathPoint> kPointSheet{
    "Events on the path",
    Shape::table,
    {report::rank_field<PathPoint>(&PathPoint::rank),
     {"event", &PathPoint::event, Unit::none, Role::key},
     {"time", &PathPoint::time, Unit::ns},
     {"end", +[](const PathPoint& point) { return std::string(point.end ? "end" : "begin"); }, Role::value}}};

constexpr report::ParamSpec kParams[] = {
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
        "--annotation all takes the whole recording.",
        ranges.annotation);
  return fmt::format("There is no range number {}: {} {} a name that holds '{}'; their numbers are 0 to {}.",
                     std::max(first, named), named, named == 1 ? "range has" : "ranges have",
                     ranges.annotation, named - 1);
}

}  // namespace

constinit const About critical_path_about = {kParams, false};

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
  const bool several = trace.several();
  std::vector<std::string> notes;
  const std::vector<RankPath> ranks = critical_paths(trace, params, notes);
  return {"critical_path",
          {tabulate(kBoundSheet, bounds(trace, ranks, compat), several),
           tabulate(kEdgeSheet, edge_sums(ranks), several),
           tabulate(kPathSheet, stretches(trace, ranks, compat), several),
           tabulate(kPointSheet, points(ranks), several)},
          std::move(notes)};
}

}  // namespace stepscope::analyze
