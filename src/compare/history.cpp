#include "compare/history.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/median.h"
#include "compare/noise/change_points.h"
#include "report/units.h"

namespace stepscope::compare {
namespace {

std::string date_of(std::int64_t ns) {
  const auto time = std::chrono::sys_time<std::chrono::seconds>(std::chrono::seconds(ns / 1'000'000'000));
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", time);
}

std::int64_t start_of(const trace::Trace& trace) {
  std::int64_t start = trace::kNoTime;
  for (const trace::Rank& rank : trace.ranks)
    if (rank.first_start != trace::kNoTime &&
        (start == trace::kNoTime || rank.base_ns + rank.first_start < start))
      start = rank.base_ns + rank.first_start;
  return start == trace::kNoTime ? 0 : start;
}

/// Removes runs that cannot stand beside the last, with a note on each.
void keep_comparable(std::vector<Run>& runs, Gate& gate) {
  const Run newest = std::move(runs.back());
  runs.pop_back();
  std::string last_reason;
  std::erase_if(runs, [&](const Run& run) {
    const bool same = same_recording(run.subject, newest.subject);
    std::vector<std::string> why = not_comparable(run.subject, newest.subject, run.name, newest.name);
    if (same) why = {fmt::format("{} and {} are the same recording.", run.name, newest.name)};
    if (why.empty()) return false;
    last_reason = why.front();
    gate.notes.push_back(run.name + " is left out of the history: " + why.front());
    return true;
  });
  if (runs.size() < kMinSteps && !last_reason.empty()) gate.not_comparable.push_back(last_reason);
  runs.push_back(newest);
}

/// The metric of each run that has it, with a note on those that have not; the last run comes last.
Trend trend_of(const std::vector<Run>& runs, std::size_t limit, const Limit& of,
               std::vector<std::string>& notes) {
  Trend trend{of.metric(), report::Unit::ns, {}, {}};
  for (const Run& run : runs) {
    const MetricValues& metric = run.metrics[limit];
    if (metric.values.empty()) {
      notes.push_back(fmt::format("{} has no {}: {}.", run.name, of.metric(), metric.missing));
      continue;
    }
    trend.unit = metric.unit;
    trend.points.push_back({run.name, date_of(run.start), metric.values.front()});
  }
  std::vector<double> values;
  for (const Trend::Point& point : trend.points) values.push_back(point.value);
  trend.changes = change_points(values);
  return trend;
}

/// The last run against the history since its last change point. That is sought without the last run, which
/// may be the first of a change itself.
Measured measured_of(const Trend& trend, const MetricValues& newest) {
  Measured out;
  out.samples = Samples::runs;
  out.unit = trend.unit;
  out.wrong = newest.wrong;
  if (newest.values.empty()) {
    out.missing = fmt::format("NEW: {}.", newest.missing);
    return out;
  }
  std::vector<double> history;
  for (std::size_t i = 0; i + 1 < trend.points.size(); ++i) history.push_back(trend.points[i].value);
  const std::vector<std::size_t> changes = change_points(history);
  if (!changes.empty())
    history.erase(history.begin(), history.begin() + static_cast<std::ptrdiff_t>(changes.back()));
  out.base = std::move(history);
  out.now = newest.values;
  if (out.base.size() < kMinSteps)
    out.missing = fmt::format(
        "The history has {} comparable recordings since its last change, too few to know how much runs vary; "
        "record {} or more.",
        out.base.size(), kMinSteps);
  return out;
}

/// "step.total changed at b.json (2026-11-02 …): 100 ms → 112 ms, +12.0 %."
void note_changes(const Trend& trend, std::vector<std::string>& notes) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < trend.changes.size(); ++i) {
    const std::size_t at = trend.changes[i],
                      end = i + 1 < trend.changes.size() ? trend.changes[i + 1] : trend.points.size();
    const double before = trend.mean(begin, at), after = trend.mean(at, end);
    notes.push_back(
        fmt::format("{} changed at {} ({}): {} → {}, {:+.1f} %.", trend.metric, trend.points[at].run,
                    trend.points[at].date, report::format_value(before, trend.unit),
                    report::format_value(after, trend.unit), before > 0 ? 100 * (after / before - 1) : 0));
    begin = at;
  }
}

}  // namespace

double Trend::mean(std::size_t begin, std::size_t end) const {
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += points[i].value;
  return end > begin ? sum / static_cast<double>(end - begin) : 0;
}

Run run_of(std::string name, const trace::Trace& trace, const std::vector<Limit>& limits,
           const report::Params& params) {
  CountedSteps counted = counted_steps(trace, analyze::StepChoice(params));
  leave_out_unsteady({&counted}, params);
  Run run{std::move(name), start_of(trace), subject_of(trace, counted), {}};
  const std::size_t steps = counted.steps.size();
  const Recording recording = recording_of(trace, std::move(counted));
  for (const Limit& limit : limits) {
    MetricValues metric =
        samples_of(limit, trace, recording, static_cast<unsigned>(params.integer("threads")));
    if (!metric.values.empty()) metric.values = {median_of(metric.values)};
    if (steps < kMinSteps && metric.wrong.empty())
      metric = {{}, fmt::format("it has {} whole steps; a run needs {} or more", steps, kMinSteps)};
    run.metrics.push_back(std::move(metric));
  }
  return run;
}

Gate gate_history(std::vector<Run> runs, bool newest_is_last, const std::vector<Limit>& limits,
                  double allow_noise) {
  Gate gate;
  std::stable_sort(runs.begin(), runs.end() - (newest_is_last ? 1 : 0),
                   [](const Run& a, const Run& b) { return a.start < b.start; });
  keep_comparable(runs, gate);
  std::vector<Measured> measured;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    gate.trends.push_back(trend_of(runs, i, limits[i], gate.notes));
    measured.push_back(measured_of(gate.trends.back(), runs.back().metrics[i]));
    if (!measured.back().wrong.empty())
      gate.wrong.push_back(fmt::format("--fail-on {}: {}", limits[i].text, measured.back().wrong));
    note_changes(gate.trends.back(), gate.notes);
  }
  gate.checks = decide(limits, measured, allow_noise);
  if (!gate.not_comparable.empty())
    for (Check& check : gate.checks) check.outcome = Outcome::inconclusive;
  gate.notes.insert(
      gate.notes.begin(),
      fmt::format("NEW is {} ({}); BASE is the history since its last change, {} in all.", runs.back().name,
                  date_of(runs.back().start),
                  runs.size() == 2 ? "1 recording" : fmt::format("{} recordings", runs.size() - 1)));
  return gate;
}

}  // namespace stepscope::compare
