#include "analyze/tb/window.h"

#include <algorithm>
#include <limits>

namespace stepscope::analyze::tb {
namespace {

using timeline::Interval;
using timeline::Time;

constexpr Time kNever = std::numeric_limits<Time>::max();

/// Device events launched by the runtime calls inside one host step.
struct Launched {
  Time first_start = kNever, last_end = std::numeric_limits<Time>::min();
  std::int64_t count = 0;
};

std::vector<StepWindow> marked_steps(const Events& events) {
  std::vector<StepWindow> steps;
  Interval hull{kNever, std::numeric_limits<Time>::min()};
  for (const Row row : events.order) {
    const Type type = events.type[row];
    if (type != Type::op && type != Type::python && type != Type::step) continue;
    const Interval span = events.span(row);
    hull = {std::min(hull.begin, span.begin), std::max(hull.end, span.end)};
    if (type != Type::step) continue;
    const std::string_view name = events.name(row);
    steps.push_back({std::string(name.substr(name.find('#') + 1)), span});
  }
  if (steps.empty() && hull.begin != kNever) steps.push_back({"0", hull});
  return steps;
}

/// Steps and calls are sorted by start. A call that is not entirely inside the current step is skipped.
std::vector<Launched> launched_in(const std::vector<StepWindow>& steps, const Events& events,
                                  const Links& links, std::vector<bool>& matched) {
  std::vector<Launched> launched(steps.size());
  std::size_t i = 0;
  for (const Row row : events.order) {
    if (events.type[row] != Type::runtime) continue;
    const Interval call = events.span(row);
    while (i < steps.size() && call.begin >= steps[i].span.end && call.end > steps[i].span.end) ++i;
    if (i == steps.size()) break;
    if (call.begin < steps[i].span.begin || call.end > steps[i].span.end) continue;
    for (const Row device : links.launched(row)) {
      const Interval span = events.span(device);
      launched[i].first_start = std::min(launched[i].first_start, span.begin);
      launched[i].last_end = std::max(launched[i].last_end, span.end);
      ++launched[i].count;
      matched[device] = true;
    }
  }
  return launched;
}

/// Begin of the first step: its mark, or the end of device work launched before it, whichever is later.
Time end_of_earlier_work(Time step_start, const Launched& first, const Events& events,
                         const std::vector<bool>& matched) {
  Time end = step_start;
  if (first.first_start == kNever) return end;
  for (const Row row : events.order) {
    if (!is_device(events.type[row]) || matched[row]) continue;
    const Interval span = events.span(row);
    if (span.end < first.first_start) end = std::max(end, span.end);
  }
  return end;
}

void extend(std::vector<StepWindow>& steps, const std::vector<Launched>& launched, Time previous_end) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Time begin = std::max(previous_end, steps[i].span.begin);
    const Time device_end = launched[i].count == 0 ? begin : launched[i].last_end;
    steps[i].span = {begin, std::max({steps[i].span.end, device_end, begin})};
    previous_end = steps[i].span.end;
  }
}

std::size_t steps_to_keep(const std::vector<Launched>& launched) {
  std::size_t keep = launched.size();
  while (keep > 0 && launched[keep - 1].count == 0) --keep;
  if (keep > 1 &&
      static_cast<double>(launched[keep - 2].count) * 0.8 > static_cast<double>(launched[keep - 1].count))
    --keep;
  return keep;
}

}  // namespace

void note_step_choice(const report::Params& params, report::Report& report) {
  if (!params.text("step").empty())
    report.notes.push_back("The plugin counts the whole recording here: the choice of steps is ignored.");
}

StepWindows step_windows(const Events& events, const Links& links) {
  StepWindows windows{marked_steps(events), 0};
  std::vector<StepWindow>& steps = windows.steps;
  std::vector<bool> matched(events.type.size());
  const std::vector<Launched> launched = launched_in(steps, events, links, matched);
  if (std::all_of(launched.begin(), launched.end(), [](const Launched& l) { return l.count == 0; }))
    return windows;
  extend(steps, launched, end_of_earlier_work(steps.front().span.begin, launched.front(), events, matched));
  const std::size_t keep = steps.size() > 1 ? steps_to_keep(launched) : steps.size();
  windows.removed = static_cast<std::int64_t>(steps.size() - keep);
  steps.resize(keep);
  return windows;
}

}  // namespace stepscope::analyze::tb
