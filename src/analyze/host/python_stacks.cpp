// Folded Python stacks with their time, for flame graphs.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/list.h"
#include "analyze/question.h"
#include "derive/call_paths.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::CallPaths;
using derive::HostPaths;
using derive::kNoPath;
using derive::PathId;
using report::Role;
using report::Shape;
using report::Unit;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::StringId;

/// All the text of a report is held at once.
constexpr std::size_t kMaxText = std::size_t{256} << 20;

/// A frame as one element of a folded stack.
std::string frame_of(std::string_view frame) {
  std::string out(frame);
  for (char& c : out)
    if (c == ';')
      c = ':';
    else if (c == '\n' || c == '\r' || c == '\t')
      c = ' ';
  return out;
}

struct Stacks {
  CallPaths paths;
  HostPaths host;
};

/// From Python ranges and how they nest.
Stacks nested_frames(const trace::Trace& trace, const Rank& rank, const StepChoice& choice) {
  Stacks stacks;
  std::vector<StringId> known(trace.strings.size(), trace::kNoString);
  stacks.host = host_paths(rank, stacks.paths, [&](Row row, PathId above) {
    if (rank.events.kind[row] != Kind::python || !choice.includes(rank, row)) return kNoPath;
    StringId& name = known[rank.events.name[row]];
    if (name == trace::kNoString) name = stacks.paths.names.intern(frame_of(trace.name(rank, row)));
    return stacks.paths.child(above, name);
  });
  return stacks;
}

/// From the `Call stack` arg of ops: "innermost;…;outermost".
class RecordedStacks {
 public:
  RecordedStacks(const trace::Trace& trace, const Rank& rank)
      : trace_(trace), arg_(trace, rank, "Call stack"), known_(trace.strings.size(), kNoPath) {}

  Stacks read(const Rank& rank, const StepChoice& choice) {
    Stacks stacks;
    stacks.host = host_paths(rank, stacks.paths, [&](Row row, PathId above) {
      if (rank.events.kind[row] != Kind::op || !choice.includes(rank, row)) return kNoPath;
      const StringId stack = arg_.id(row);
      if (stack == trace::kEmptyString) return kNoPath;
      if (known_[stack] == kNoPath) known_[stack] = path_of(trace_.text(stack), stacks.paths);
      return known_[stack] == above ? kNoPath : known_[stack];
    });
    return stacks;
  }

 private:
  static PathId path_of(std::string_view stack, CallPaths& paths) {
    PathId path = kNoPath;
    while (!stack.empty()) {
      const std::size_t at = stack.rfind(';');
      const std::string_view frame = at == std::string_view::npos ? stack : stack.substr(at + 1);
      stack = at == std::string_view::npos ? std::string_view{} : stack.substr(0, at);
      if (!frame.empty()) path = paths.child(path, paths.names.intern(frame_of(frame)));
    }
    return path;
  }

  const trace::Trace& trace_;
  trace::ArgReader arg_;
  std::vector<PathId> known_;
};

std::vector<std::int64_t> device_time(const Rank& rank, const StepChoice& choice, const Stacks& stacks) {
  const trace::EventTable& e = rank.events;
  std::vector<std::int64_t> time(stacks.paths.size());
  for (const Row row : rank.device_rows()) {
    if (!is_device_work(e.kind[row]) || !choice.includes(rank, row)) continue;
    const Row from = derive::launched_from(e, row);
    if (from != kNoRow && stacks.host.path[from] != kNoPath)
      report::add_to(time[stacks.host.path[from]], e.duration(row));
  }
  return time;
}

std::string folded(const CallPaths& paths, PathId path) {
  std::vector<PathId> chain;
  for (PathId at = path; at != kNoPath; at = paths.parent(at)) chain.push_back(at);
  std::string text;
  for (std::size_t i = chain.size(); i-- > 0;) {
    if (!text.empty()) text += ';';
    text += paths.name(chain[i]);
  }
  return text;
}

struct StackColumns {
  explicit StackColumns(const trace::Trace& trace)
      : rank(table, trace),
        stack(table.texts("stack")),
        time(table.ints("time", Unit::ns)),
        calls(table.ints("calls", Unit::count, Role::detail)) {}
  report::Table table{"Python stacks", Shape::flame, {}};
  RankColumn rank;
  report::Texts& stack;
  report::Ints &time, &calls;
  std::size_t text = 0;
};

/// Returns false when there was no room for all.
bool add_rank(StackColumns& out, const Rank& rank, const Stacks& stacks,
              const std::vector<std::int64_t>& time) {
  struct Line {
    PathId path;
    std::string text;
  };
  std::vector<PathId> order;
  for (PathId path = 0; path < stacks.paths.size(); ++path)
    if (time[path] > 0) order.push_back(path);
  std::stable_sort(order.begin(), order.end(), [&](PathId a, PathId b) { return time[a] > time[b]; });
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    std::vector<Line> equal;
    for (; end < order.size() && time[order[end]] == time[order[begin]]; ++end) {
      equal.push_back({order[end], folded(stacks.paths, order[end])});
      out.text += equal.back().text.size();
      if (out.text > kMaxText) return false;
    }
    std::sort(equal.begin(), equal.end(), [](const Line& a, const Line& b) { return a.text < b.text; });
    for (Line& line : equal) {
      out.rank.add(rank);
      out.stack.push_back(std::move(line.text));
      out.time.push_back(time[line.path]);
      out.calls.push_back(stacks.host.calls[line.path]);
    }
    begin = end;
  }
  return true;
}

}  // namespace

constexpr report::ParamSpec kPythonStacksParams[] = {
    {"metric", report::ParamSpec::Type::choice, "host", "host|device",
     "time in the frame itself on the host, or of the device events launched from it"}};

constinit const About python_stacks_about = {kPythonStacksParams};

report::Report python_stacks(const trace::Trace& trace, const report::Params& params) {
  const StepChoice choice(params);
  const bool device = params.text("metric") == "device";
  StackColumns out(trace);
  report::Report report{"python_stacks", {}, {}};
  bool any = false, all = true;
  for (const Rank& rank : trace.ranks) {
    Stacks stacks = nested_frames(trace, rank, choice);
    if (stacks.paths.size() == 0) stacks = RecordedStacks(trace, rank).read(rank, choice);
    any |= stacks.paths.size() > 0;
    all = all && add_rank(out, rank, stacks, device ? device_time(rank, choice, stacks) : stacks.host.self);
  }
  if (!any)
    report.notes.emplace_back("No Python stack is recorded. Record with with_stack=True.");
  else if (out.table.rows() == 0)
    report.notes.emplace_back(
        "No stack has time of this kind: no device event was launched below a recorded frame.");
  if (!all)
    report.notes.push_back(
        fmt::format("Only the longest stacks are shown: all of them would take more than {} MiB of text.",
                    kMaxText >> 20));
  report.tables.push_back(std::move(out.table));
  return report;
}

}  // namespace stepscope::analyze
