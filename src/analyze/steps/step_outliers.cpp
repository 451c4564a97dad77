#include "analyze/steps/step_outliers.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace stepscope::analyze {
namespace {

using trace::Rank;
using trace::Row;

constexpr std::ptrdiff_t kMinWholeSteps = 3;
constexpr std::size_t kOpsShown = 5;
constexpr std::int64_t kMinExcess = 1'000'000;  // ns

/// Index of the step with the median length, without cut-off steps; of two in the middle, the shorter.
std::size_t median_step(std::span<const StepTime> steps) {
  std::vector<std::size_t> whole;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (!steps[i].cut_off) whole.push_back(i);
  std::stable_sort(whole.begin(), whole.end(),
                   [&](std::size_t a, std::size_t b) { return steps[a].total < steps[b].total; });
  return whole[(whole.size() - 1) / 2];
}

/// By step: the host ranges that overlap it; empty for steps that are not wanted.
std::vector<std::vector<Row>> ranges_in(const Rank& rank, const std::vector<bool>& wanted) {
  const trace::EventTable& e = rank.events;
  std::vector<std::vector<Row>> rows(wanted.size());
  for (const Row row : rank.host_rows()) {
    if (!is_host_range(e.kind[row])) continue;
    const auto after =
        std::upper_bound(rank.steps.begin(), rank.steps.end(), e.start[row],
                         [](std::int64_t time, const trace::Step& step) { return time < step.start; });
    auto step = static_cast<std::size_t>(after - rank.steps.begin());
    for (step -= step > 0; step < wanted.size() && rank.steps[step].start < e.end[row]; ++step)
      if (wanted[step] && e.start[row] < rank.steps[step].end) rows[step].push_back(row);
  }
  return rows;
}

/// Self time of host ranges by name, inside the span of a step's mark; the mark itself does not count.
std::vector<std::int64_t> host_self(const trace::Trace& trace, const Rank& rank, const trace::Step& step,
                                    const std::vector<Row>& ranges) {
  const trace::EventTable& e = rank.events;
  std::vector<std::int64_t> self(trace.strings.size());
  for (const Row row : ranges) {
    const std::int64_t inside = timeline::overlap({e.start[row], e.end[row]}, {step.start, step.end});
    if (row != step.row) self[e.name[row]] += inside;
    if (const Row parent = e.parent[row]; parent != trace::kNoRow && parent != step.row)
      self[e.name[parent]] -= inside;
  }
  return self;
}

void add_roles(std::vector<StepOutlier>& rows, const StepTime& slow, const StepTime& usual) {
  const auto growth = [&](std::size_t role) { return slow.parts[role] - usual.parts[role]; };
  rows.push_back({slow.rank, slow.number, StepLane::step, "total", slow.total, usual.total});
  std::array<std::size_t, kStepRoles> order;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return growth(a) > growth(b); });
  for (const std::size_t i : order)
    if (growth(i) > (slow.total - usual.total) / 20)
      rows.push_back({slow.rank, slow.number, StepLane::step, std::string(name_of(static_cast<StepRole>(i))),
                      slow.parts[i], usual.parts[i]});
}

void add_ops(std::vector<StepOutlier>& rows, const trace::Trace& trace, const StepTime& slow,
             const std::vector<std::int64_t>& slow_self, const std::vector<std::int64_t>& usual_self) {
  std::vector<trace::StringId> names;
  for (trace::StringId name = 0; name < slow_self.size(); ++name)
    if (slow_self[name] > usual_self[name]) names.push_back(name);
  const auto grew_more = [&](trace::StringId a, trace::StringId b) {
    const std::int64_t x = slow_self[a] - usual_self[a], y = slow_self[b] - usual_self[b];
    return x != y ? x > y : trace.text(a) < trace.text(b);
  };
  const auto shown = names.begin() + static_cast<std::ptrdiff_t>(std::min(kOpsShown, names.size()));
  std::partial_sort(names.begin(), shown, names.end(), grew_more);
  for (auto name = names.begin(); name != shown; ++name)
    rows.push_back({slow.rank, slow.number, StepLane::host, std::string(trace.text(*name)), slow_self[*name],
                    usual_self[*name]});
}

}  // namespace

void add_outliers(std::vector<StepOutlier>& outliers, const Derived& derived, const Rank& rank,
                  std::span<const StepTime> steps) {
  if (std::count_if(steps.begin(), steps.end(), [](const StepTime& s) { return !s.cut_off; }) <
      kMinWholeSteps)
    return;
  const std::size_t median = median_step(steps);
  const StepTime& usual = steps[median];
  std::vector<bool> wanted(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::int64_t excess = steps[i].total - usual.total;
    wanted[i] = !steps[i].cut_off && derived.choice().includes(rank.steps[i]) && excess >= kMinExcess &&
                5 * static_cast<double>(excess) >= static_cast<double>(usual.total);
  }
  std::vector<std::size_t> slow;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (wanted[i]) slow.push_back(i);
  if (slow.empty()) return;
  wanted[median] = true;
  const trace::Trace& trace = derived.trace();
  const std::vector<std::vector<Row>> ranges = ranges_in(rank, wanted);
  const auto self_of = [&](std::size_t step) {
    return host_self(trace, rank, rank.steps[step], ranges[step]);
  };
  const std::vector<std::int64_t> usual_self = self_of(median);
  for (const std::size_t i : slow) {
    add_roles(outliers, steps[i], usual);
    add_ops(outliers, trace, steps[i], self_of(i), usual_self);
  }
}

}  // namespace stepscope::analyze
