#include "analyze/replay/replayed_window.h"

#include <algorithm>
#include <limits>

#include "derive/thread_role.h"

namespace stepscope::analyze {

using derive::Replayed;
using derive::ReplayPlan;
using timeline::Interval;
using timeline::Time;
using trace::kNoRow;
using trace::Row;
using trace::TrackId;

ReplayedWindow::ReplayedWindow(const trace::Trace& trace, const trace::Rank& rank, const StepChoice& choice)
    : rank_(rank), spans_(step_spans(rank)), recorded_(window_of(rank, choice)) {
  for (const StepSpan& s : spans_)
    chosen_.push_back(choice.includes(rank.steps[s.index]) && !(s.partial && choice.all()));
  add_marks(trace);
  std::vector<Time> recorded;
  for (const ReplayPlan::Mark& mark : marks_) recorded.push_back(mark.time);
  for (std::int64_t left_out = 0; left_out < std::ssize(recorded_lead_); ++left_out) {
    const std::size_t first = first_step(left_out);
    if (first < spans_.size())
      recorded_lead_[static_cast<std::size_t>(left_out)] =
          std::max<Time>(0, host_length(recorded, left_out) - (recorded_.end - spans_[first].span.begin));
  }
}

std::size_t ReplayedWindow::first_step(std::int64_t left_out) const {
  std::size_t step = 0;
  for (; step < chosen_.size(); ++step)
    if (chosen_[step] && left_out-- == 0) break;
  return step;
}

std::int64_t ReplayedWindow::steps() const {
  return std::max<std::int64_t>(1, std::count(chosen_.begin(), chosen_.end(), true));
}

Time ReplayedWindow::length(const ReplayPlan& plan, const Replayed& replayed, std::int64_t left_out) const {
  const std::vector<Time> device_end = device_ends(plan, replayed);
  Time previous = first_begin(plan, replayed);
  Interval window{0, 0};
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const Time begin = std::max(previous, latest(replayed.marks, begins_[i]));
    const Time end = std::max({begin, latest(replayed.marks, ends_[i]), device_end[i]});
    if (chosen_[i]) {
      if (seen <= left_out) window.begin = begin;
      window.end = end;
      ++seen;
    }
    previous = end;
  }
  return std::max(window.length(),
                  host_length(replayed.marks, left_out) - recorded_lead_[static_cast<std::size_t>(left_out)]);
}

/// Host time from the begin of the first chosen step's mark to the end of the last one's; 0 without marks.
Time ReplayedWindow::host_length(const std::vector<Time>& marks, std::int64_t left_out) const {
  const std::size_t first = first_step(left_out);
  const auto last = chosen_.rend() - std::find(chosen_.rbegin(), chosen_.rend(), true) - 1;
  if (first >= chosen_.size() || begins_[first].count == 0) return 0;
  return latest(marks, ends_[static_cast<std::size_t>(last)]) - latest(marks, begins_[first]);
}

bool ReplayedWindow::has(Row event) const {
  const std::int32_t step = rank_.events.step[event];
  return step >= 0 && chosen_[static_cast<std::size_t>(step)];
}

void ReplayedWindow::add_marks(const trace::Trace& trace) {
  const trace::EventTable& e = rank_.events;
  for (const trace::Step& step : rank_.steps) {
    if (step.row != kNoRow) {
      begins_.push_back({marks_.size(), 1});
      marks_.push_back({e.track[step.row], step.start});
      ends_.push_back({marks_.size(), 1});
      marks_.push_back({e.track[step.row], step.end});
      continue;
    }
    begins_.push_back({marks_.size(), 0});
    ends_.push_back({marks_.size(), 0});
    if (step.found) continue;
    for (const ReplayPlan::Mark& mark : last_ends(trace)) {
      marks_.push_back(mark);
      ++ends_.back().count;
    }
  }
}

/// The end of the last host range on the main thread and on each thread that launches.
std::vector<ReplayPlan::Mark> ReplayedWindow::last_ends(const trace::Trace& trace) const {
  const trace::EventTable& e = rank_.events;
  const auto roles = derive::thread_roles(trace, rank_);
  std::vector<bool> wanted(rank_.tracks.size());
  for (TrackId t = 0; t < wanted.size(); ++t) wanted[t] = roles[t] == derive::ThreadRole::main;
  for (const Row row : rank_.device_rows())
    if (is_device_work(e.kind[row]) && e.launch[row] != kNoRow) wanted[e.track[e.launch[row]]] = true;
  std::vector<ReplayPlan::Mark> ends;
  for (TrackId t = 0; t < wanted.size(); ++t) {
    Time end = trace::kNoTime;
    for (Row row = rank_.tracks[t].begin; wanted[t] && row < rank_.tracks[t].end; ++row)
      if (is_host_range(e.kind[row])) end = std::max(end, e.end[row]);
    if (end != trace::kNoTime) ends.push_back({t, end});
  }
  return ends;
}

Time ReplayedWindow::latest(const std::vector<Time>& times, const Marks& marks) {
  Time time = std::numeric_limits<Time>::min();
  for (std::size_t m = 0; m < marks.count; ++m) time = std::max(time, times[marks.first + m]);
  return time;
}

std::vector<Time> ReplayedWindow::device_ends(const ReplayPlan& plan, const Replayed& replayed) const {
  std::vector<Time> ends(rank_.steps.size(), std::numeric_limits<Time>::min());
  for (std::size_t i = 0; i < plan.events.size(); ++i) {
    const std::int32_t step = rank_.events.step[plan.events[i].row];
    if (step < 0 || plan.events[i].call == ReplayPlan::kNone) continue;
    Time& end = ends[static_cast<std::size_t>(step)];
    end = std::max(end, replayed.end[i]);
  }
  return ends;
}

/// The first step begins with its mark, or when the device had finished the previous step.
Time ReplayedWindow::first_begin(const ReplayPlan& plan, const Replayed& replayed) const {
  if (spans_.empty()) return 0;
  const Time begin = spans_.front().span.begin;
  Time moved = std::numeric_limits<Time>::min();
  if (begin > rank_.steps.front().start)
    for (std::size_t i = 0; i < plan.events.size(); ++i)
      if (rank_.events.end[plan.events[i].row] == begin) moved = std::max(moved, replayed.end[i]);
  const bool marked = rank_.steps.front().row != kNoRow;
  return moved != std::numeric_limits<Time>::min() || marked ? moved : begin;
}

}  // namespace stepscope::analyze
