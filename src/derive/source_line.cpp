#include "derive/source_line.h"

#include <algorithm>

namespace stepscope::derive {

using trace::kNoRow;
using trace::Row;
using trace::StringId;

namespace {

/// Bounds one walk to the root when a hostile file nests deeply.
constexpr int kMaxFrames = 16'384;

/// "file(line): function", not "<built-in …>" and not "nn.Module: …".
bool has_file(std::string_view frame) {
  return !frame.starts_with('<') && frame.find("): ") != std::string_view::npos;
}

bool in_framework(std::string_view frame) {
  return frame.starts_with("torch/") || frame.find("site-packages/torch/") != std::string_view::npos ||
         frame.find("dist-packages/torch/") != std::string_view::npos;
}

/// The line chosen from "frame;frame;…", whose first frame is the innermost.
std::string_view line_of(std::string_view stack) {
  std::string_view nearest;
  for (std::size_t at = 0; at < stack.size();) {
    const std::size_t end = std::min(stack.find(';', at), stack.size());
    const std::string_view frame = stack.substr(at, end - at);
    at = end + 1;
    if (!has_file(frame)) continue;
    if (!in_framework(frame)) return frame;
    if (nearest.empty()) nearest = frame;
  }
  return nearest;
}

}  // namespace

SourceLines::SourceLines(const trace::Trace& trace, const trace::Rank& rank)
    : trace_(trace),
      rank_(rank),
      call_stack_(trace, rank, "Call stack"),
      samples_(trace, rank),
      by_name_(trace.strings.size(), kUnasked),
      stack_line_(trace.strings.size()),
      stack_asked_(trace.strings.size()) {}

SourceLines::FrameClass SourceLines::class_of(StringId name) {
  FrameClass& of_name = by_name_[name];
  if (of_name == kUnasked) {
    const std::string_view text = trace_.text(name);
    of_name = !has_file(text) ? kNoFile : in_framework(text) ? kFramework : kUser;
  }
  return of_name;
}

std::string_view SourceLines::of(Row row) {
  const trace::EventTable& e = rank_.events;
  Row nearest = kNoRow;
  int steps = 0;
  for (Row at = row; at != kNoRow && steps < kMaxFrames; at = e.parent[at], ++steps) {
    if (e.kind[at] != trace::Kind::python) continue;
    const FrameClass of_name = class_of(e.name[at]);
    if (of_name == kUser) return trace_.name(rank_, at);
    if (of_name == kFramework && nearest == kNoRow) nearest = at;
  }
  if (nearest != kNoRow) return trace_.name(rank_, nearest);
  const std::string_view recorded = in_call_stack(row);
  return recorded.empty() ? samples_.of(row) : recorded;
}

std::string_view SourceLines::in_call_stack(Row row) {
  const trace::EventTable& e = rank_.events;
  int steps = 0;
  for (Row at = e.kind[row] == trace::Kind::op ? row : e.op[row]; at != kNoRow && steps < kMaxFrames;
       at = e.parent[at], ++steps) {
    const StringId stack = call_stack_.id(at);
    if (stack == trace::kEmptyString) continue;
    if (!stack_asked_[stack]) {
      stack_asked_[stack] = true;
      stack_line_[stack] = line_of(trace_.text(stack));
    }
    return stack_line_[stack];
  }
  return {};
}

}  // namespace stepscope::derive
