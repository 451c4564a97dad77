#include <algorithm>
#include <charconv>
#include <limits>

#include "derive/stages.h"

namespace stepscope::derive {

using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Row;
using trace::Step;

namespace {

constexpr std::string_view kMark = "ProfilerStep";

/// The N of "ProfilerStep#N", also with spaces around the sign; -1 when it is not a step's name.
std::int64_t step_number(std::string_view name) {
  if (!name.starts_with(kMark)) return -1;
  name.remove_prefix(kMark.size());
  const std::size_t digits = name.find_first_not_of(" #");
  if (digits == std::string_view::npos) return -1;
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(name.data() + digits, name.data() + name.size(), number);
  return error == std::errc{} && end == name.data() + name.size() ? number : -1;
}

std::vector<Step> marked_steps(const trace::Trace& trace, const trace::Rank& rank) {
  const EventTable& e = rank.events;
  std::vector<std::int64_t> number_of(trace.strings.size(), -2);
  std::vector<Step> steps;
  for (Row row = 0; row < e.size(); ++row) {
    if (e.kind[row] != Kind::annotation && e.kind[row] != Kind::op) continue;
    std::int64_t& number = number_of[e.name[row]];
    if (number == -2) number = step_number(trace.text(e.name[row]));
    if (number < 0) continue;
    steps.push_back(
        {number, std::string(trace.text(e.name[row])), e.start[row], e.end[row], trace::kNoTime, row});
  }
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  // The same step marked again, by an op of that name or on another thread, is no second step.
  std::vector<Step> once;
  for (Step& step : steps)
    if (once.empty() || once.back().number != step.number || step.start >= once.back().end)
      once.push_back(std::move(step));
  return once;
}

/// A file without step marks is one step: the hull of its host ranges and device work.
std::vector<Step> whole_window(const EventTable& e) {
  Step step;
  step.name = "whole recording";
  step.start = std::numeric_limits<std::int64_t>::max();
  step.end = std::numeric_limits<std::int64_t>::min();
  for (Row row = 0; row < e.size(); ++row) {
    if (!is_host_range(e.kind[row]) && !is_device_work(e.kind[row])) continue;
    step.start = std::min(step.start, e.start[row]);
    step.end = std::max(step.end, e.end[row]);
  }
  if (step.start > step.end) return {};
  return {step};
}

std::int32_t step_at(const std::vector<Step>& steps, std::int64_t time) {
  auto after = std::upper_bound(steps.begin(), steps.end(), time,
                                [](std::int64_t t, const Step& s) { return t < s.start; });
  if (after == steps.begin()) return -1;
  --after;
  return time < after->end || (time == after->end && after + 1 == steps.end())
             ? static_cast<std::int32_t>(after - steps.begin())
             : -1;
}

}  // namespace

void fill_steps(const trace::Trace& trace, trace::Rank& rank) {
  EventTable& e = rank.events;
  rank.steps = marked_steps(trace, rank);
  if (rank.steps.empty()) rank.steps = whole_window(e);
  e.step.assign(e.size(), -1);
  for (Row row = 0; row < e.size(); ++row)
    if (!is_device_row(e.kind[row])) e.step[row] = step_at(rank.steps, e.start[row]);
  for (Row row = 0; row < e.size(); ++row) {
    if (!is_device_row(e.kind[row])) continue;
    e.step[row] = e.launch[row] != kNoRow ? e.step[e.launch[row]] : step_at(rank.steps, e.start[row]);
    if (e.step[row] < 0 || !is_device_work(e.kind[row]) || e.launch[row] == kNoRow) continue;
    Step& step = rank.steps[static_cast<std::size_t>(e.step[row])];
    step.device_end = std::max(step.device_end, e.end[row]);
  }
}

}  // namespace stepscope::derive
