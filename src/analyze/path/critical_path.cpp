// The longest chain of calls and device events of a step: these must be faster for the step to be faster.
#include "analyze/path/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using path::EdgeType;
using path::PathEdge;
using report::Role;
using report::Shape;
using report::Tag;
using report::Unit;
using timeline::Time;

/// Times in ns.
struct Edges {
  std::int64_t rank;
  EdgeType type;
  std::int64_t edges = 0, on_path = 0;
  Time weight = 0, path_weight = 0;
};
struct Turn {
  std::int64_t rank, event;
  Time time;
  std::string_view end;
};

/// What limits a stretch of the path; "" for waits, which take no time of their own.
std::string_view bound_by(const trace::Trace& trace, const RankPath& of, const PathEdge& edge,
                          const path::Rules& rules) {
  if (edge.type == EdgeType::kernel_delay) return "gpu_kernel_kernel_overhead";
  if (edge.type == EdgeType::launch_delay) return "gpu_kernel_launch_overhead";
  if (edge.type != EdgeType::op || edge.event < 0) return "";
  const path::Event& event = of.rows->at(edge.event);
  if (event.stream == -1) return "cpu_bound";
  return rules.communicates(trace, *of.rows->rank, event.row) ? "gpu_communication_bound"
                                                              : "gpu_compute_bound";
}

/// The path's edges in order.
std::vector<PathStretch> stretches_of(const trace::Trace& trace, const RankPath& of,
                                      const path::Rules& rules) {
  const trace::Rank& rank = *of.rows->rank;
  std::vector<PathStretch> rows;
  for (const std::int32_t at : of.graph.path_edges) {
    const PathEdge& edge = of.graph.edge(at);
    const path::Event* event = edge.event < 0 ? nullptr : &of.rows->at(edge.event);
    rows.push_back({rank.rank, of.graph.node(edge.from).time, edge.weight, edge.type,
                    bound_by(trace, of, edge, rules), event == nullptr ? "" : trace.name(rank, event->row),
                    event == nullptr ? report::kNoInt : rank.events.source[event->row],
                    event == nullptr || edge.type != EdgeType::op ? trace::kNoRow : event->row,
                    of.graph.node(edge.to).time});
  }
  return rows;
}

void add_bounds(std::vector<PathBound>& out, const std::vector<PathStretch>& path) {
  std::map<std::string_view, Time> times;
  Time whole = 0;
  for (const PathStretch& stretch : path) {
    report::add_to(times[stretch.bound_by], stretch.time);
    report::add_to(whole, stretch.time);
  }
  for (const auto& [name, length] : times)
    if (!name.empty()) out.push_back({path.front().rank, name, length, report::ratio(length, whole)});
}

void add_edges(std::vector<Edges>& out, const RankPath& of) {
  std::map<EdgeType, Edges> sums;
  const auto sum_of = [&](EdgeType type) -> Edges& {
    return sums.try_emplace(type, Edges{of.rows->rank->rank, type}).first->second;
  };
  for (const PathEdge& edge : of.graph.edges) {
    Edges& sum = sum_of(edge.type);
    ++sum.edges;
    report::add_to(sum.weight, edge.weight);
  }
  for (const std::int32_t at : of.graph.path_edges) {
    Edges& sum = sum_of(of.graph.edge(at).type);
    ++sum.on_path;
    report::add_to(sum.path_weight, of.graph.edge(at).weight);
  }
  for (const auto& [type, sum] : sums) out.push_back(sum);
}

void add_turns(std::vector<Turn>& out, const RankPath& of) {
  for (const std::int32_t at : of.graph.path) {
    const path::PathNode& node = of.graph.node(at);
    const trace::Row row = of.rows->at(node.event).row;
    out.push_back(
        {of.rows->rank->rank, of.rows->rank->events.source[row], node.time, node.end ? "end" : "begin"});
  }
}

const report::Sheet<PathBound> kBounds{"The path by what it is bound by",
                                       Shape::bars,
                                       {report::rank_field<PathBound>(&PathBound::rank),
                                        {"bound_by", &PathBound::bound_by},
                                        {"time", &PathBound::time, Unit::ns},
                                        {"share", &PathBound::share, Unit::share, Role::share}}};
const report::Sheet<Edges> kEdges{"Edges",
                                  Shape::table,
                                  {report::rank_field<Edges>(&Edges::rank),
                                   {"type", report::named<&Edges::type>},
                                   {"edges", &Edges::edges, Unit::count},
                                   {"weight", &Edges::weight, Unit::ns},
                                   {"on_path", &Edges::on_path, Unit::count},
                                   {"path_weight", &Edges::path_weight, Unit::ns}}};
const report::Sheet<PathStretch> kPath{"Critical path",
                                       Shape::table,
                                       {report::rank_field<PathStretch>(&PathStretch::rank),
                                        {"start", &PathStretch::start, Unit::ns, Tag::of_one_run},
                                        {"time", &PathStretch::time, Unit::ns},
                                        {"type", report::named<&PathStretch::type>, Role::value},
                                        {"bound_by", &PathStretch::bound_by, Role::value},
                                        {"name", &PathStretch::name, Role::value},
                                        {"event", &PathStretch::event, Unit::none, Role::detail}}};
const report::Sheet<Turn> kTurns{"Events on the path",
                                 Shape::table,
                                 {report::rank_field<Turn>(&Turn::rank),
                                  {"event", &Turn::event, Unit::none, Tag::of_one_run},
                                  {"time", &Turn::time, Unit::ns},
                                  {"end", &Turn::end, Role::value}}};

constexpr std::string_view kStepRanges = "ProfilerStep";  // in the names of steps' ranges

constexpr report::ParamSpec kParams[] = {
    {"annotation", report::ParamSpec::Type::text, kStepRanges, "",
     "a range whose name contains this text; \"all\": the whole recording"},
    {"instance", report::ParamSpec::Type::steps, "0", "",
     "which of these ranges, from 0; 2-4: from the start of 2 to the end of 4"}};

/// One sentence if the chosen ranges do not exist, else "".
std::string unfound(const path::Ranges& ranges, std::int64_t named) {
  const auto [first, last] = ranges.instances;
  if (last < named) return "";
  if (named == 0)
    return fmt::format(
        "No range has a name that contains '{}': `stepscope show user_annotations` lists the ranges; "
        "--annotation all takes the whole recording.",
        ranges.annotation);
  return fmt::format("There is no range number {}: {} {} a name that contains '{}', numbered 0 to {}.",
                     std::max(first, named), named, named == 1 ? "range has" : "ranges have",
                     ranges.annotation, named - 1);
}

}  // namespace

std::string_view meaning_of_bound(std::string_view bound_by) {
  constexpr std::pair<std::string_view, std::string_view> kMeanings[] = {
      {"cpu_bound", "on the host"},
      {"gpu_compute_bound", "device work"},
      {"gpu_communication_bound", "communication"},
      {"gpu_kernel_launch_overhead", "from launch to start"},
      {"gpu_kernel_kernel_overhead", "between kernels"}};
  for (const auto& [name, meaning] : kMeanings)
    if (name == bound_by) return meaning;
  return bound_by;
}

StepPath path_of_step(const trace::Trace& trace, const trace::Rank& rank, const trace::Step* step) {
  const path::Table table = path::table_of(trace, rank);
  StepPath out;
  report::Params params;
  if (step != nullptr && step->row != trace::kNoRow) {
    params.set("annotation", std::string(kStepRanges));
    params.set("instance", std::to_string(path::ranges_before(trace, table, kStepRanges, step->row)));
  } else {
    params.set("annotation", "all");
    out.notes.emplace_back("The profiler marked no step here: this is the path of the whole recording.");
  }
  for (const RankPath& of : critical_paths(trace, {&table, 1}, path::kRules, params, out.notes))
    out.stretches = stretches_of(trace, of, path::kRules);
  if (out.stretches.empty() && out.notes.empty())
    out.notes.emplace_back("Nothing that a path could lead through is recorded in this step.");
  add_bounds(out.bounds, out.stretches);
  for (const PathStretch& stretch : out.stretches) report::add_to(out.time, stretch.time);
  return out;
}

std::vector<RankPath> critical_paths(const trace::Trace& trace, std::span<const path::Table> tables,
                                     const path::Rules& rules, const report::Params& params,
                                     std::vector<std::string>& notes) {
  const std::string_view asked = params.text("annotation", kStepRanges);
  const path::Ranges ranges{asked == "all" ? "" : asked, params.range("instance", {0, 0})};
  std::vector<RankPath> ranks;
  for (const path::Table& table : tables) {
    RankPath& of = ranks.emplace_back(RankPath{&table, path::longest_path(trace, table, ranges, rules)});
    const std::int64_t named = of.graph.ranges;
    std::string note = ranges.annotation.empty() ? "" : unfound(ranges, named);
    if (named == 0 && !ranges.annotation.empty() && !params.has("annotation") &&
        ranges.instances.first == 0) {
      of.graph = path::longest_path(trace, table, {}, rules);
      note = "No profiler step is marked: this is the path of the whole recording.";
    }
    if (!note.empty() && std::find(notes.begin(), notes.end(), note) == notes.end())
      notes.push_back(std::move(note));
  }
  return ranks;
}

report::Report critical_path_report(const trace::Trace& trace, std::span<const path::Table> tables,
                                    const path::Rules& rules, const report::Params& params) {
  report::Report report{"critical_path", {}, {}};
  std::vector<PathBound> bounds;
  std::vector<Edges> edges;
  std::vector<PathStretch> path;
  std::vector<Turn> turns;
  for (const RankPath& of : critical_paths(trace, tables, rules, params, report.notes)) {
    const std::vector<PathStretch> stretches = stretches_of(trace, of, rules);
    add_bounds(bounds, stretches);
    add_edges(edges, of);
    path.insert(path.end(), stretches.begin(), stretches.end());
    add_turns(turns, of);
  }
  const bool several = trace.several();
  report.tables = {tabulate(kBounds, bounds, several), tabulate(kEdges, edges, several),
                   tabulate(kPath, path, several), tabulate(kTurns, turns, several)};
  return report;
}

constinit const About critical_path_about = {kParams, false};

report::Report critical_path(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  std::vector<path::Table> tables;
  for (const trace::Rank& rank : trace.ranks) tables.push_back(path::table_of(trace, rank));
  return critical_path_report(trace, tables, path::kRules, params);
}

}  // namespace stepscope::analyze
