#include "lanes/timeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "lanes/ask/area.h"
#include "lanes/ask/drawn.h"
#include "lanes/ask/event.h"
#include "lanes/ask/links.h"
#include "lanes/ask/search.h"
#include "lanes/recorded.h"
#include "lanes/run.h"
#include "lanes/summary.h"
#include "lanes/tiles.h"

namespace stepscope::lanes {
namespace {

Error refusal(std::string sentence) { return {std::move(sentence), "", -1}; }

/// One sentence why there is no such tile, "" if there is.
std::string no_tile(std::int64_t level, std::int64_t index) {
  if (level < 0 || level > kMaxLevel) return fmt::format("A level is a number from 0 to {}.", kMaxLevel);
  return index < 0 ? "A tile is a number from 0 on." : "";
}

/// One sentence if some of `ids` are not among `count` things called `what`, or too many; else "".
std::string unknown_id(std::span<const std::uint32_t> ids, std::size_t count, std::string_view what) {
  if (ids.size() > kMaxAsked) return fmt::format("Ask for at most {} {}s at once.", kMaxAsked, what);
  for (const std::uint32_t id : ids)
    if (id >= count) return fmt::format("There is no {} {}: this run has {} of them.", what, id, count);
  return "";
}

bool is_span(const timeline::Interval& span) {
  return span.begin >= 0 && span.begin < span.end && span.end <= kMaxTime;
}
constexpr const char* kNoSpan = "An area ends behind its begin, which is at 0 or later.";

}  // namespace

struct Timeline::Parts {
  Parts(const trace::Trace& trace, unsigned threads) : run(trace, threads), links(run) {}
  Run run;
  Links links;
};

Timeline::Timeline(const trace::Trace& trace, unsigned threads)
    : parts_(std::make_unique<const Parts>(trace, thread_count(threads))) {}
Timeline::~Timeline() = default;

std::string Timeline::summary() const { return summary_json(parts_->run); }

Result<std::string> Timeline::names(std::int64_t block) const {
  const std::uint32_t count = parts_->run.names.size();
  const std::uint32_t blocks = (count + kNamesOfBlock - 1) / kNamesOfBlock;
  if (block < 0 || block >= blocks)
    return refusal(fmt::format("There is no block {} of names: this run has {} of them.", block, blocks));
  return names_json(parts_->run, static_cast<std::uint32_t>(block));
}

Result<std::string> Timeline::tiles(std::int64_t level, std::int64_t index,
                                    std::span<const std::uint32_t> lanes) const {
  std::string why = no_tile(level, index);
  if (why.empty()) why = unknown_id(lanes, parts_->run.lanes.all.size(), "lane");
  if (!why.empty()) return refusal(std::move(why));
  return lane_tiles(parts_->run, {static_cast<int>(level), index}, lanes);
}

Result<std::string> Timeline::counters(std::int64_t level, std::int64_t index,
                                       std::span<const std::uint32_t> counters) const {
  std::string why = no_tile(level, index);
  if (why.empty()) why = unknown_id(counters, parts_->run.counters.size(), "counter");
  if (!why.empty()) return refusal(std::move(why));
  return counter_tiles(parts_->run, {static_cast<int>(level), index}, counters);
}

Result<std::string> Timeline::search(const Query& query) const { return search_json(parts_->run, query); }

Result<std::string> Timeline::event(std::int64_t rank, std::int64_t id) const {
  return event_json(parts_->run, parts_->links, rank, id);
}

Result<report::Report> Timeline::area(std::int64_t from, std::int64_t to,
                                      std::span<const std::uint32_t> lanes) const {
  std::string why = unknown_id(lanes, parts_->run.lanes.all.size(), "lane");
  if (why.empty() && !is_span({from, to})) why = kNoSpan;
  if (!why.empty()) return refusal(std::move(why));
  const Time end = parts_->run.end;
  return area_report(parts_->run, {from, from < end ? std::min(to, end) : to}, lanes);
}

Result<std::string> Timeline::path(const DrawnPath& path, std::optional<timeline::Interval> span) const {
  if (span && !is_span(*span)) return refusal(kNoSpan);
  return path_json(parts_->run, path, span);
}

Result<std::string> Timeline::idle(const DrawnIdle& idle, std::optional<timeline::Interval> span) const {
  if (span && !is_span(*span)) return refusal(kNoSpan);
  return idle_json(parts_->run, idle, span);
}

Recorded Timeline::recorded() const { return Recorded(parts_->run); }

std::size_t Timeline::pyramid_bytes() const {
  std::size_t bytes = 0;
  for (const Lane& lane : parts_->run.lanes.all)
    for (const LaneRow& row : lane.rows) bytes += row.pyramid.bytes();
  return bytes;
}

}  // namespace stepscope::lanes
