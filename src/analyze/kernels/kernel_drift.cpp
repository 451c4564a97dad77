#include "analyze/kernels/kernel_drift.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Unit;
using trace::Rank;
using trace::Row;
using trace::StringId;
using trace::Trace;

constexpr std::size_t kMinSteps = 5;
constexpr double kSlower = 1.05;

/// By step: lengths of the kernels of one name, grid and block.
using Lengths = std::vector<std::vector<std::int64_t>>;

/// Indexes of the complete steps after the first step, which may still be warming up.
std::vector<std::size_t> steps_of(const Rank& rank) {
  std::vector<std::size_t> steps;
  for (const StepSpan& span : step_spans(rank))
    if (span.index > 0 && !span.partial) steps.push_back(span.index);
  return steps;
}

std::vector<Lengths> groups_of(const Trace& trace, const Rank& rank, const std::vector<std::size_t>& steps) {
  const trace::EventTable& e = rank.events;
  const trace::ArgReader grid(trace, rank, "grid"), block(trace, rank, "block");
  std::vector<std::size_t> place(rank.steps.size(), steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) place[steps[i]] = i;
  std::map<std::tuple<StringId, StringId, StringId>, std::size_t> index;
  std::vector<Lengths> groups;
  for (const Row row : rank.device_rows()) {
    if (e.work[row] != trace::Work::compute || e.step[row] < 0 || grid.id(row) == trace::kEmptyString)
      continue;
    const std::size_t at = place[static_cast<std::size_t>(e.step[row])];
    if (at == steps.size()) continue;
    const auto [found, added] = index.try_emplace({e.name[row], grid.id(row), block.id(row)}, groups.size());
    if (added) groups.emplace_back(steps.size());
    groups[found->second][at].push_back(e.duration(row));
  }
  std::erase_if(groups, [](const Lengths& lengths) {
    return std::any_of(lengths.begin(), lengths.end(), [](const auto& step) { return step.empty(); });
  });
  return groups;
}

/// Resolution of the file's times in ns: 1,000 if all kernels take whole µs, else 1.
std::int64_t grain_of(const std::vector<Lengths>& groups) {
  constexpr std::int64_t kMicrosecond = 1'000;
  for (const Lengths& lengths : groups)
    for (const auto& step : lengths)
      for (const std::int64_t length : step)
        if (length % kMicrosecond != 0) return 1;
  return kMicrosecond;
}

std::int64_t median_of(const Lengths& lengths, std::size_t from, std::size_t to) {
  std::vector<std::int64_t> all;
  for (std::size_t step = from; step < to; ++step)
    all.insert(all.end(), lengths[step].begin(), lengths[step].end());
  return report::quantile(all, 0.5);
}

struct Drift {
  std::int64_t groups = 0, kernels = 0, slower = 0, total = 0;
  double before = 0, after = 0;      ///< a step's kernel time at the medians of the first and last third, ns
  std::vector<std::int64_t> length;  ///< sum over the kernels by step, ns

  double pace() const { return before > 0 ? after / before : 1; }
  /// Mean kernel time of the steps in the first third, ns.
  double usual() const {
    const std::size_t third = length.size() / 3;
    std::int64_t sum = 0;
    for (std::size_t step = 0; step < third; ++step) report::add_to(sum, length[step]);
    return static_cast<double>(sum) / static_cast<double>(third);
  }
  /// Index of the first step from which on all steps are closer to the last third's pace than to the first
  /// third's; length.size() without such a step.
  std::size_t since() const {
    const double limit = usual() * (1 + (pace() - 1) / 2);
    std::size_t step = length.size();
    while (pace() > 1 && step > 0 && static_cast<double>(length[step - 1]) > limit) --step;
    return step;
  }
  std::int64_t excess() const {
    double sum = 0;
    for (std::size_t step = since(); step < length.size(); ++step)
      sum += static_cast<double>(length[step]) - usual();
    return static_cast<std::int64_t>(sum);
  }
};

Drift drift_of(const std::vector<Lengths>& groups, std::size_t steps) {
  Drift drift;
  drift.length.resize(steps);
  const std::size_t third = steps / 3;
  const std::int64_t grain = grain_of(groups);
  for (const Lengths& lengths : groups) {
    const std::int64_t first = median_of(lengths, 0, third), last = median_of(lengths, steps - third, steps);
    std::int64_t kernels = 0;
    for (std::size_t step = 0; step < steps; ++step) {
      kernels += static_cast<std::int64_t>(lengths[step].size());
      for (const std::int64_t length : lengths[step]) report::add_to(drift.length[step], length);
    }
    const double each = static_cast<double>(kernels) / static_cast<double>(steps);
    drift.kernels += kernels;
    if (static_cast<double>(first) * (kSlower - 1) >= static_cast<double>(grain)) {
      ++drift.groups;
      drift.slower += static_cast<double>(last) > kSlower * static_cast<double>(first);
    }
    drift.before += each * static_cast<double>(first);
    drift.after += each * static_cast<double>(last);
  }
  for (const std::int64_t length : drift.length) report::add_to(drift.total, length);
  return drift;
}

}  // namespace

void add_kernel_drift(std::vector<KernelDrift>& drifts, const Trace& trace, const Rank& rank) {
  const std::vector<std::size_t> steps = steps_of(rank);
  if (steps.size() + 1 < kMinSteps) return;
  const Drift drift = drift_of(groups_of(trace, rank, steps), steps.size());
  if (drift.groups == 0) return;
  const std::size_t since = drift.since();
  drifts.push_back({rank.rank, drift.groups, drift.kernels / static_cast<std::int64_t>(steps.size()),
                    report::ratio(drift.slower, drift.groups), drift.pace(),
                    since < steps.size() ? rank.steps[steps[since]].number : report::kNoInt, drift.excess(),
                    drift.total});
}

const report::Sheet<KernelDrift> kKernelDriftSheet{
    "Drift of equal kernels",
    report::Shape::table,
    {report::rank_field<KernelDrift>(&KernelDrift::rank),
     {"groups", &KernelDrift::groups, Unit::count},
     {"kernels", &KernelDrift::kernels, Unit::count},
     {"slower_share", &KernelDrift::slower, Unit::share},
     {"pace", &KernelDrift::pace, Unit::none},
     {"since_step", &KernelDrift::since_step, Unit::none, Role::detail},
     {"excess", &KernelDrift::excess, Unit::ns},
     {"total", &KernelDrift::total, Unit::ns}}};

}  // namespace stepscope::analyze
