#include "compare/places.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "derive/innermost.h"
#include "derive/kernel_class.h"
#include "derive/thread_role.h"
#include "trace/asked_once.h"

namespace stepscope::compare {

using derive::kNoPath;
using derive::PathId;
using trace::Kind;
using trace::kNoRow;

namespace {

constexpr std::uint32_t kDeepestModule = 32;  // deeper modules count as their ancestor at this depth
constexpr std::uint32_t kDeepestOp = 24;

/// The number at the end of "Linear_12", -1 when there is none.
std::int64_t number_of(std::string_view module) {
  const std::size_t last = module.rfind('_');
  std::int64_t number = -1;
  if (last != std::string_view::npos)
    std::from_chars(module.data() + last + 1, module.data() + module.size(), number);
  return number;
}

}  // namespace

std::vector<std::string> stable_module_names(const derive::CallPaths& paths) {
  using Sibling = std::tuple<std::int64_t, std::string_view, PathId>;
  std::map<std::pair<PathId, std::string_view>, std::vector<Sibling>> siblings;  // by parent and class
  for (PathId path = 0; path < paths.size(); ++path)
    siblings[{paths.parent(path), analyze::class_of_module(paths.name(path))}].emplace_back(
        number_of(paths.name(path)), paths.name(path), path);
  std::vector<std::string> own(paths.size()), full(paths.size());
  for (auto& [key, group] : siblings) {
    std::sort(group.begin(), group.end());
    for (std::size_t i = 0; i < group.size(); ++i)
      own[std::get<PathId>(group[i])] = std::string(key.second) + (i == 0 ? "" : "#" + std::to_string(i));
  }
  for (PathId path = 0; path < paths.size(); ++path) {
    const PathId parent = paths.parent(path);
    full[path] = parent == kNoPath                     ? own[path]
                 : paths.depth(path) >= kDeepestModule ? full[parent]
                                                       : full[parent] + " › " + own[path];
  }
  return full;
}

Places::Places(const trace::Trace& trace, const trace::Rank& rank)
    : modules_(analyze::module_paths(trace, rank, analyze::StepChoice({}))) {
  const trace::EventTable& e = rank.events;
  trace::AskedOnce is_mark(trace.strings, derive::is_step_mark);
  const auto paths_below = [&](auto root_of) {
    return derive::host_paths(rank, paths_,
                              [&](trace::Row row, PathId above) {
                                const bool op = e.kind[row] == Kind::op;
                                if ((!op && e.kind[row] != Kind::annotation) || is_mark(e.name[row]))
                                  return kNoPath;
                                const PathId parent = above == kNoPath ? root_of(row) : above;
                                const PathId path =
                                    paths_.child(parent, paths_.names.intern(trace.text(e.name[row])));
                                if (path >= is_op_.size()) is_op_.resize(path + 1);
                                is_op_[path] = is_op_[path] || op;
                                return path;
                              })
        .path;
  };
  path_ = paths_below([](trace::Row) { return kNoPath; });
  // Work on autograd's threads belongs to the range of the program that waits for it on the main thread.
  const std::vector<derive::ThreadRole> roles = derive::thread_roles(trace, rank);
  const auto main = std::find(roles.begin(), roles.end(), derive::ThreadRole::main);
  if (main != roles.end() &&
      std::find(roles.begin(), roles.end(), derive::ThreadRole::backward) != roles.end()) {
    const trace::Track& track = rank.tracks[static_cast<std::size_t>(main - roles.begin())];
    path_ = paths_below([&, of_main = std::move(path_)](trace::Row row) {
      if (roles[e.track[row]] != derive::ThreadRole::backward) return kNoPath;
      const trace::Row open = derive::innermost_at(rank, track, e.start[row]);
      return open == kNoRow ? kNoPath : of_main[open];
    });
  }
  is_op_.resize(paths_.size());
  module_names_ = stable_module_names(modules_.paths);
}

PathId Places::op(trace::Row host_row) const { return host_row == kNoRow ? kNoPath : path_[host_row]; }

PathId Places::module(trace::Row host_row) const {
  if (host_row == kNoRow) return kNoPath;
  const PathId own = modules_.host.path[host_row];
  return own != kNoPath ? own : modules_.backward[host_row];
}

std::vector<std::string> Places::op_names(PathId path) const {
  std::vector<std::string> names;
  for (; path != kNoPath; path = paths_.parent(path))
    if (paths_.depth(path) < kDeepestOp) names.emplace_back(paths_.name(path));
  std::reverse(names.begin(), names.end());
  return names;
}

std::size_t Places::first_op(PathId path) const {
  std::size_t levels = 0, first = 0;
  for (; path != kNoPath; path = paths_.parent(path)) {
    ++levels;
    first = is_op_[path] ? levels : first;
  }
  return first == 0 ? levels : levels - first;
}

}  // namespace stepscope::compare
