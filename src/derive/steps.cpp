#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include "derive/stages.h"
#include "derive/steps/found_steps.h"

namespace stepscope::derive {

using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Row;
using trace::Step;

namespace {

constexpr std::string_view kMark = "ProfilerStep";
constexpr double kFewCovered = 0.25;  // of the recording by marked steps: the program does something else

/// The N of "ProfilerStep#N", also with spaces around "#"; -1 when the name is not a step's.
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
  for (const Row row : rank.host_rows()) {
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
  // The same step marked again, by an op of that name or on another thread, is not a second step.
  std::vector<Step> once;
  for (Step& step : steps)
    if (once.empty() || once.back().number != step.number || step.start >= once.back().end)
      once.push_back(std::move(step));
  return once;
}

/// Of the recording's time, from the first step's start to the last one's end.
double covered(const std::vector<Step>& steps, const std::vector<Step>& whole) {
  if (steps.empty() || whole.empty() || whole[0].end == whole[0].start) return 0;
  return static_cast<double>(steps.back().end - steps.front().start) /
         static_cast<double>(whole[0].end - whole[0].start);
}

/// A file without steps is one step: from the first start to the last end of host ranges and device
/// work.
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

/// The step at a given time, -1 between steps. Lookups close in time are cheap.
class StepAt {
 public:
  explicit StepAt(const std::vector<Step>& steps) : steps_(steps) {}

  std::int32_t operator()(std::int64_t time) {
    if (time >= from_ && time < until_) return last_;
    const auto after = std::upper_bound(steps_.begin(), steps_.end(), time,
                                        [](std::int64_t t, const Step& s) { return t < s.start; });
    from_ = until_ = 0;
    if (after == steps_.begin()) return -1;
    const auto step = after - 1;
    last_ = static_cast<std::int32_t>(step - steps_.begin());
    if (time < step->end) {
      from_ = step->start;
      until_ = after == steps_.end() ? step->end : std::min(step->end, after->start);
      return last_;
    }
    return time == step->end && after == steps_.end() ? last_ : -1;
  }

 private:
  const std::vector<Step>& steps_;
  std::int64_t from_ = 0, until_ = 0;  // the last result is valid in [from_, until_)
  std::int32_t last_ = -1;
};

}  // namespace

void fill_host_steps(const trace::Trace& trace, trace::Rank& rank) {
  EventTable& e = rank.events;
  rank.steps = marked_steps(trace, rank);
  std::vector<Step> whole = whole_window(e);
  if (!whole.empty() && covered(rank.steps, whole) < kFewCovered) {
    FoundSteps found = found_steps(trace, rank);
    const bool more = found.steps.size() > rank.steps.size();
    if (rank.steps.empty() || (more && covered(found.steps, whole) >= kFewCovered)) {
      rank.steps = std::move(found.steps);
      rank.step_border = std::move(found.border);
    }
  }
  if (rank.steps.empty()) rank.steps = std::move(whole);
  e.step.assign(e.size(), -1);
  StepAt step_at(rank.steps);
  for (const Row row : rank.host_rows()) e.step[row] = step_at(e.start[row]);
}

namespace {

/// Tracks with device work whose launch is recorded.
std::vector<bool> tracks_with_launches(const trace::Rank& rank) {
  std::vector<bool> with(rank.tracks.size(), false);
  const EventTable& e = rank.events;
  for (const Row row : rank.device_rows())
    if (is_device_work(e.kind[row]) && e.launch[row] != kNoRow) with[e.track[row]] = true;
  return with;
}

}  // namespace

/// Device work belongs to the step that launched it. Where that is not recorded: to the step of the work
/// before it on its stream, as streams keep their order; to none at the stream's begin, which was launched
/// before the recording began. Without any launch on its stream: to the step at its start.
void fill_device_steps(trace::Rank& rank) {
  EventTable& e = rank.events;
  StepAt step_at(rank.steps);
  const std::vector<bool> with_launches = tracks_with_launches(rank);
  trace::TrackId track = 0;
  std::int32_t before = -1;
  for (const Row row : rank.device_rows()) {
    const bool launched = e.launch[row] != kNoRow;
    if (e.track[row] != std::exchange(track, e.track[row])) before = -1;
    const bool works = is_device_work(e.kind[row]);
    if (launched)
      e.step[row] = e.step[e.launch[row]];
    else
      e.step[row] = works && with_launches[e.track[row]] ? before : step_at(e.start[row]);
    if (!launched || !works) continue;
    before = e.step[row];
    if (before < 0) continue;
    Step& step = rank.steps[static_cast<std::size_t>(before)];
    step.device_end = std::max(step.device_end, e.end[row]);
  }
}

}  // namespace stepscope::derive
