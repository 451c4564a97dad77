#include "lanes/ask/stack.h"

#include <algorithm>
#include <charconv>

#include "derive/places/own_frames.h"
#include "derive/source_line.h"

namespace stepscope::lanes {
namespace {

using trace::kNoRow;
using trace::Row;

constexpr std::size_t kMaxFrames = 1'000;
constexpr std::size_t kMaxLooked = 16'384;  // ranges around an event, in a hostile file

/// The range that a walk up the stack starts at: the event, or the call or operator that device work is of.
Row host_row(const trace::EventTable& e, Row row) {
  if (!trace::is_device_row(e.kind[row])) return row;
  return e.launch[row] != kNoRow ? e.launch[row] : e.op[row];
}

/// Calls use(row) for each range around `from` and for itself; use() returns false at the last wanted one.
void for_each_around(const trace::EventTable& e, Row from, auto use) {
  std::size_t looked = 0;
  for (Row at = from; at != kNoRow && looked < kMaxLooked && use(at); at = e.parent[at]) ++looked;
}

std::vector<Frame> recorded_stack(const trace::Trace& trace, const trace::Rank& rank, Row from) {
  const trace::ArgReader call_stack(trace, rank, "Call stack");
  std::string_view text;
  for_each_around(rank.events, from, [&](Row at) {
    text = call_stack.text(at);
    return text.empty();
  });
  std::vector<Frame> frames;
  while (!text.empty() && frames.size() < kMaxFrames) {
    const std::size_t end = std::min(text.find(';'), text.size());
    if (end > 0) frames.push_back(frame_of(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return frames;
}

}  // namespace

Frame frame_of(std::string_view text) {
  const std::string_view place = derive::file_and_line(text);
  const std::size_t bracket = place.rfind('(');
  if (place.empty() || bracket == std::string_view::npos) return {text, {}, -1};
  Frame frame{text.substr(std::min(place.size() + 2, text.size())), place.substr(0, bracket), -1};
  std::from_chars(place.data() + bracket + 1, place.data() + place.size(), frame.line);
  return frame;
}

std::vector<Frame> stack_of(const trace::Trace& trace, const trace::Rank& rank, Row row) {
  const trace::EventTable& e = rank.events;
  const Row from = host_row(e, row);
  std::vector<Frame> frames;
  if (from == kNoRow) return frames;
  for_each_around(e, from, [&](Row at) {
    if (at != row && e.kind[at] == trace::Kind::python) frames.push_back(frame_of(trace.name(rank, at)));
    return frames.size() < kMaxFrames;
  });
  if (frames.empty()) frames = recorded_stack(trace, rank, from);
  if (!frames.empty() || e.kind[from] == trace::Kind::python) return frames;
  const std::string_view sampled = derive::SourceLines(trace, rank).of(from);
  if (!sampled.empty()) frames.push_back(frame_of(sampled));
  return frames;
}

}  // namespace stepscope::lanes
