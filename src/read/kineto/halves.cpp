#include "read/kineto/halves.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "read/row_order.h"

namespace stepscope::read {
namespace {

using trace::StringId;

/// The halves of all batches by track and time. At one instant: ends first, then begins, by content.
std::vector<HalfEvent> sorted_halves(const trace::Trace& trace, const trace::Rank& rank,
                                     std::vector<Batch>& batches) {
  std::vector<HalfEvent> all;
  for (Batch& batch : batches) {
    all.insert(all.end(), batch.halves.begin(), batch.halves.end());
    std::vector<HalfEvent>().swap(batch.halves);
  }
  std::stable_sort(all.begin(), all.end(), [&](const HalfEvent& a, const HalfEvent& b) {
    if (a.track != b.track) return a.track < b.track;
    if (a.time != b.time) return a.time < b.time;
    if (a.begin != b.begin) return b.begin;
    if (a.name != b.name) return trace.text(a.name) < trace.text(b.name);
    if (a.category != b.category) return trace.text(a.category) < trace.text(b.category);
    return args_before(trace, rank, {a.schema, a.args_at}, {b.schema, b.args_at});
  });
  return all;
}

/// The open ranges of one track.
class OpenRanges {
 public:
  explicit OpenRanges(std::vector<PairedHalf>& rows) : rows_(rows) {}

  void open(const HalfEvent& begin) {
    by_name_[begin.name].push_back(begins_.size());
    stack_.push_back(begins_.size());
    begins_.push_back({begin, true});
  }
  bool close_of_name(const HalfEvent& end) {
    const auto found = by_name_.find(end.name);
    return found != by_name_.end() && close_last(found->second, end.time);
  }
  bool close_innermost(const HalfEvent& end) { return close_last(stack_, end.time); }
  /// Begins without an end get the end kNoTime. Returns their number.
  std::int64_t keep_open() {
    std::int64_t open = 0;
    for (const Begin& begin : begins_) {
      if (!begin.open) continue;
      rows_.push_back({begin.half, trace::kNoTime});
      ++open;
    }
    return open;
  }

 private:
  struct Begin {
    HalfEvent half;
    bool open;
  };
  bool close_last(std::vector<std::size_t>& stack, std::int64_t time) {
    while (!stack.empty() && !begins_[stack.back()].open) stack.pop_back();
    if (stack.empty()) return false;
    Begin& begin = begins_[stack.back()];
    rows_.push_back({begin.half, time});
    begin.open = false;
    return true;
  }

  std::vector<PairedHalf>& rows_;
  std::vector<Begin> begins_;
  std::vector<std::size_t> stack_;  // indices of begins_; some are closed
  std::unordered_map<StringId, std::vector<std::size_t>> by_name_;
};

using Halves = std::span<const HalfEvent>;

/// Pairs the halves of one instant on one track. Returns the number of ends without a partner.
std::int64_t pair_instant(OpenRanges& ranges, Halves ends, Halves begins) {
  std::unordered_map<StringId, std::size_t> begun;
  for (const HalfEvent& begin : begins) ++begun[begin.name];
  std::vector<HalfEvent> of_these_begins, of_any;
  for (const HalfEvent& end : ends) {
    if (ranges.close_of_name(end)) continue;
    const auto found = begun.find(end.name);
    const bool has_begin = found != begun.end() && found->second > 0;
    if (has_begin) --found->second;
    (has_begin ? of_these_begins : of_any).push_back(end);
  }
  std::erase_if(of_any, [&](const HalfEvent& end) { return ranges.close_innermost(end); });
  for (const HalfEvent& begin : begins) ranges.open(begin);
  for (const HalfEvent& end : of_these_begins) ranges.close_of_name(end);
  return std::count_if(of_any.begin(), of_any.end(),
                       [&](const HalfEvent& end) { return !ranges.close_innermost(end); });
}

/// Pairs the halves of one track.
void pair_track(Halves halves, std::vector<PairedHalf>& rows, trace::Reading& reading) {
  OpenRanges ranges(rows);
  while (!halves.empty()) {
    const std::int64_t time = halves.front().time;
    const auto begins = std::find_if(halves.begin(), halves.end(),
                                     [&](const HalfEvent& h) { return h.begin || h.time != time; });
    const auto later = std::find_if(begins, halves.end(), [&](const HalfEvent& h) { return h.time != time; });
    reading.unmatched_ends += pair_instant(ranges, {halves.begin(), begins}, {begins, later});
    halves = {later, halves.end()};
  }
  reading.open_begins += ranges.keep_open();
}

}  // namespace

std::vector<PairedHalf> pair_halves(const trace::Trace& trace, trace::Rank& rank,
                                    std::vector<Batch>& batches) {
  std::vector<PairedHalf> rows;
  const std::vector<HalfEvent> all = sorted_halves(trace, rank, batches);
  for (auto from = all.begin(); from != all.end();) {
    const auto to = std::find_if(from, all.end(), [&](const HalfEvent& h) { return h.track != from->track; });
    pair_track({from, to}, rows, rank.reading);
    from = to;
  }
  return rows;
}

void end_open_ranges(trace::Rank& rank) {
  if (rank.reading.open_begins == 0) return;
  trace::EventTable& e = rank.events;
  for (const trace::Track& track : rank.tracks) {
    std::int64_t last = trace::kNoTime;
    for (trace::Row row = track.begin; row < track.end; ++row)
      last = std::max({last, e.start[row], e.end[row]});
    for (trace::Row row = track.begin; row < track.end; ++row)
      if (e.end[row] == trace::kNoTime) e.end[row] = last;
  }
}

}  // namespace stepscope::read
