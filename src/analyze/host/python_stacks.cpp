// Folded Python stacks with their time, for flame graphs.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "derive/call_paths.h"
#include "report/sheet.h"
#include "report/statistics.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using derive::CallPaths;
using derive::HostPaths;
using derive::kNoPath;
using derive::PathId;
using report::Unit;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::StringId;

/// Max bytes of stack text, because a report is held in memory as a whole.
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

/// Stacks from nested Python ranges.
Stacks nested_frames(const trace::Trace& trace, const Rank& rank, const StepChoice& choice) {
  Stacks stacks;
  trace::AskedOnce path_name(
      trace.strings, [&](std::string_view frame) { return stacks.paths.names.intern(frame_of(frame)); });
  stacks.host = host_paths(rank, stacks.paths, [&](Row row, PathId above) {
    if (rank.events.kind[row] != Kind::python || !choice.includes(rank, row)) return kNoPath;
    return stacks.paths.child(above, path_name(rank.events.name[row]));
  });
  return stacks;
}

/// Path of a stack "innermost;…;outermost".
PathId path_of(std::string_view stack, CallPaths& paths) {
  PathId path = kNoPath;
  while (!stack.empty()) {
    const std::size_t at = stack.rfind(';');
    const std::string_view frame = at == std::string_view::npos ? stack : stack.substr(at + 1);
    stack = at == std::string_view::npos ? std::string_view{} : stack.substr(0, at);
    if (!frame.empty()) path = paths.child(path, paths.names.intern(frame_of(frame)));
  }
  return path;
}

/// Stacks from the `Call stack` arg of ops.
Stacks recorded_stacks(const trace::Trace& trace, const Rank& rank, const StepChoice& choice) {
  Stacks stacks;
  const trace::ArgReader arg(trace, rank, "Call stack");
  std::vector<PathId> known(trace.strings.size(), kNoPath);
  stacks.host = host_paths(rank, stacks.paths, [&](Row row, PathId above) {
    if (rank.events.kind[row] != Kind::op || !choice.includes(rank, row)) return kNoPath;
    const StringId stack = arg.id(row);
    if (stack == trace::kEmptyString) return kNoPath;
    if (known[stack] == kNoPath) known[stack] = path_of(trace.text(stack), stacks.paths);
    return known[stack] == above ? kNoPath : known[stack];
  });
  return stacks;
}

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

/// One folded stack: time of its last frame alone, in ns, and number of calls.
struct FoldedStack {
  std::int64_t rank;
  std::string stack;
  std::int64_t time, calls;
};

/// Adds stacks, longest first, equal times by text. Returns false if they exceed kMaxText. `text` counts the
/// bytes of all lines.
bool add_rank(std::vector<FoldedStack>& lines, std::size_t& text, const Rank& rank, const Stacks& stacks,
              const std::vector<std::int64_t>& time) {
  std::vector<PathId> order;
  for (PathId path = 0; path < stacks.paths.size(); ++path)
    if (time[path] > 0) order.push_back(path);
  std::stable_sort(order.begin(), order.end(), [&](PathId a, PathId b) { return time[a] > time[b]; });
  const auto first = std::ssize(lines);
  bool all = true;
  for (const PathId path : order) {
    std::string stack = folded(stacks.paths, path);
    text += stack.size();
    all = text <= kMaxText;
    if (!all) {  // stacks with equal time are all shown or all dropped
      while (std::ssize(lines) > first && lines.back().time == time[path]) lines.pop_back();
      break;
    }
    lines.push_back({rank.rank, std::move(stack), time[path], stacks.host.calls[path]});
  }
  std::sort(lines.begin() + first, lines.end(), [](const FoldedStack& a, const FoldedStack& b) {
    return a.time != b.time ? a.time > b.time : a.stack < b.stack;
  });
  return all;
}

const report::Sheet<FoldedStack> kStackSheet{
    "Python stacks",
    report::Shape::flame,
    {report::rank_field<FoldedStack>(&FoldedStack::rank),
     {"stack", &FoldedStack::stack},
     {"time", &FoldedStack::time, Unit::ns},
     {"calls", &FoldedStack::calls, Unit::count, report::Role::detail}}};

}  // namespace

constexpr report::ParamSpec kPythonStacksParams[] = {
    {"metric", report::ParamSpec::Type::choice, "host", "host|device",
     "host time in the frame itself, or time of the device events launched from it"}};

constinit const About python_stacks_about = {kPythonStacksParams};

report::Report python_stacks(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  const StepChoice choice(params);
  const bool device = params.text("metric") == "device";
  std::vector<FoldedStack> lines;
  std::vector<std::string> notes;
  std::size_t text = 0;
  bool any = false, all = true;
  for (const Rank& rank : trace.ranks) {
    Stacks stacks = nested_frames(trace, rank, choice);
    if (stacks.paths.size() == 0) stacks = recorded_stacks(trace, rank, choice);
    any |= stacks.paths.size() > 0;
    all = all &&
          add_rank(lines, text, rank, stacks, device ? device_time(rank, choice, stacks) : stacks.host.self);
  }
  if (!any)
    notes.emplace_back("No Python stack is recorded. Record with with_stack=True.");
  else if (lines.empty())
    notes.emplace_back("No stack has time of this kind: no device event was launched from a recorded frame.");
  if (!all)
    notes.push_back(
        fmt::format("Only the longest stacks are shown: all of them would take more than {} MiB of text.",
                    kMaxText >> 20));
  return {"python_stacks", {tabulate(kStackSheet, lines, trace.several())}, std::move(notes)};
}

}  // namespace stepscope::analyze
