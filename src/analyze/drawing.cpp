#include "analyze/drawing.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/suggest.h"

namespace stepscope::analyze {
namespace {

constexpr Drawer kDrawers[] = {{"critical_path", draw_critical_path, hta::draw_critical_path},
                               {"queue_length", draw_queue_length, hta::draw_queue_length},
                               {"memory_bandwidth", draw_copy_rates, hta::draw_copy_rates}};

}  // namespace

std::span<const Drawer> drawers() { return kDrawers; }

std::uint32_t Sketch::lane_of(trace::Row row) {
  const trace::TrackId track = rank_.events.track[row];
  const auto [found, added] = lanes_.try_emplace(track, static_cast<std::uint32_t>(drawing_.lanes.size()));
  if (added) drawing_.lanes.push_back({rank_.tracks[track].pid, rank_.tracks[track].tid});
  return found->second;
}

std::uint32_t Sketch::counter(std::string name, std::string value_name, trace::Row row) {
  const std::string& pid = rank_.tracks[rank_.events.track[row]].pid;
  drawing_.counters.push_back({std::move(name), std::move(value_name), pid});
  return static_cast<std::uint32_t>(drawing_.counters.size() - 1);
}

std::string undrawable(const std::vector<std::string>& what, const report::Params& params) {
  std::vector<std::string> names;
  for (const Drawer& drawer : drawers()) names.emplace_back(drawer.what);
  for (const std::string& name : what)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return fmt::format("--what must be critical_path, queue_length or memory_bandwidth, not '{}'.{}", name,
                         report::did_you_mean(name, names));
  const bool path = what.empty() || std::find(what.begin(), what.end(), "critical_path") != what.end();
  for (const char* flag : {"only-critical", "all-edges", "annotation", "instance"})
    if (!path && params.has(flag))
      return fmt::format("--{} is for the critical path; add --what critical_path", flag);
  return "";
}

Sketch sketch_of(const Derived& derived, const trace::Rank& rank, const std::vector<std::string>& what,
                 const report::Params& params) {
  Sketch sketch(rank);
  for (const Drawer& drawer : drawers())
    if (what.empty() || std::find(what.begin(), what.end(), drawer.what) != what.end())
      (params.flag("hta-compat") ? drawer.as_hta : drawer.draw)(derived, params, sketch);
  return sketch;
}

std::string absent_range(const Sketch& sketch, const report::Params& params) {
  const bool chosen = params.has("annotation") || params.has("instance");
  return chosen && sketch.drawing().critical.empty() && !sketch.notes.empty() ? sketch.notes.front() : "";
}

}  // namespace stepscope::analyze
