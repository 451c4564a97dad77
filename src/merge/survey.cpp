#include "merge/survey.h"

#include <algorithm>

#include "read/json_members.h"
#include "read/kineto/kind.h"
#include "read/losses.h"

namespace stepscope::merge {
namespace {

constexpr std::size_t kMaxCategories = 512;

void keep_earlier(std::unordered_map<LaneText, std::int64_t>& lanes, const LaneText& lane, std::int64_t at) {
  const auto [found, added] = lanes.try_emplace(lane, at);
  if (!added) found->second = std::min(found->second, at);
}

void keep_fuller(std::string& name, const std::string& other) {
  if (std::pair(other.size(), other) > std::pair(name.size(), name)) name = other;
}

}  // namespace

bool same_lane(const LaneText& lane, const EventText& event) {
  const std::string_view pid = event.pid.text(), tid = event.tid.text();
  return lane.size() == pid.size() + tid.size() + 1 && lane[pid.size()] == kBetween &&
         std::string_view(lane).starts_with(pid) && std::string_view(lane).ends_with(tid);
}

LaneText lane_text(const EventText& event) {
  LaneText lane(event.pid.text());
  lane += kBetween;
  return lane += event.tid.text();
}

std::string ident_of(std::string_view text) { return text.empty() ? "0" : read::text_of(text); }

void Survey::take(const EventText& event, std::int64_t at) {
  ++events;
  if (!same_lane(last_lane_, event)) {
    last_lane_ = lane_text(event);
    keep_earlier(lanes, last_lane_, at);
  }
  for (const EventText::Id& id : event.id_list()) {
    std::int64_t value = 0;
    if (!read_id(id, value)) continue;
    IdRange& range = ids[static_cast<std::size_t>(id.space)];
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
  }
  const char kind = event.kind();
  if (kind == 'M') return take_names(event);
  const std::string_view category = event.category.bare();
  if (category != last_category_) {
    last_category_ = category;
    on_device_ = trace::is_device_row(read::kind_of_category(category));
    if (categories.size() < kMaxCategories) categories.emplace(category);
  }
  std::int64_t time = 0, duration = 0;
  if (read_time(event.time, time)) {
    rows += kind != 's' && kind != 't' && kind != 'f';
    if (first_time == trace::kNoTime || time < first_time) first_time = time;
    if (read_time(event.duration, duration) && duration > 0) time += duration;
    std::int64_t& last = on_device_ ? last_any_end : last_host_end;
    last = std::max(last, time);
  }
  if (event.args_rank && rank_at < 0) {
    rank = read::integer_of(event.args_rank.text(), -1);
    rank_at = rank < 0 ? -1 : at;
  }
}

void Survey::take_names(const EventText& event) {
  const std::string_view what = event.name.bare();
  const std::string pid = ident_of(event.pid.text());
  if (what == "process_name" && event.args_name)
    keep_fuller(processes[pid].name, read::text_of(event.args_name.text()));
  if (what == "process_labels" && event.args_labels)
    keep_fuller(processes[pid].label, read::text_of(event.args_labels.text()));
  if (what == "process_name" && event.args_was)
    keep_fuller(processes[pid].was, read::text_of(event.args_was.text()));
}

void Survey::lose(std::int64_t byte, std::int64_t bytes, std::string_view reason) {
  read::describe(losses, {byte, bytes, std::string(reason)});
  ++lost;
  lost_bytes += std::max<std::int64_t>(0, bytes);
}

void Survey::add(Survey&& block, std::uint32_t index) {
  if (by_block.size() <= index) by_block.resize(index + std::size_t{1});
  by_block[index] = static_cast<std::uint32_t>(block.events);
  events += block.events;
  rows += block.rows;
  lost += block.lost;
  lost_bytes += block.lost_bytes;
  for (trace::Loss& loss : block.losses) read::describe(losses, std::move(loss));
  if (block.first_time != trace::kNoTime && (first_time == trace::kNoTime || block.first_time < first_time))
    first_time = block.first_time;
  last_host_end = std::max(last_host_end, block.last_host_end);
  last_any_end = std::max(last_any_end, block.last_any_end);
  for (std::size_t s = 0; s < kSpaces; ++s) {
    ids[s].low = std::min(ids[s].low, block.ids[s].low);
    ids[s].high = std::max(ids[s].high, block.ids[s].high);
  }
  for (const auto& [lane, at] : block.lanes) keep_earlier(lanes, lane, at);
  for (const auto& [pid, names] : block.processes) {
    keep_fuller(processes[pid].name, names.name);
    keep_fuller(processes[pid].label, names.label);
    keep_fuller(processes[pid].was, names.was);
  }
  if (categories.size() < kMaxCategories) categories.merge(block.categories);
  if (block.rank_at >= 0 && (rank_at < 0 || block.rank_at < rank_at))
    rank = block.rank, rank_at = block.rank_at;
}

}  // namespace stepscope::merge
