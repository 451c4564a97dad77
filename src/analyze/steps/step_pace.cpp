#include "analyze/steps/step_pace.h"

#include <algorithm>

#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

constexpr std::size_t kMinPacedSteps = 3, kMinNames = 5;
constexpr std::int64_t kMinOpCalls = 8, kMinKernelCalls = 5;  // per step

/// Mean time per call, by name and step, of names with enough calls.
class Means {
 public:
  template <class Counts>
  Means(const trace::Trace& trace, const Rank& rank, std::int64_t min_calls, Counts counts)
      : steps_(rank.steps.size()), slot_(trace.strings.size()) {
    const EventTable& e = rank.events;
    std::vector<std::int64_t> calls(trace.strings.size());
    for (Row row = 0; row < e.size(); ++row) calls[e.name[row]] += e.step[row] >= 0 && counts(row);
    for (std::size_t name = 0; name < calls.size(); ++name)
      if (calls[name] >= min_calls * static_cast<std::int64_t>(steps_)) slot_[name] = ++slots_;
    total_.resize(slots_ * steps_);
    count_.resize(slots_ * steps_);
  }
  void add(trace::StringId name, std::int32_t step, std::int64_t time) {
    if (step < 0 || slot_[name] == 0) return;
    const std::size_t at = (slot_[name] - 1) * steps_ + static_cast<std::size_t>(step);
    report::add_to(total_[at], time);
    ++count_[at];
  }
  /// Time per call of a name in one step, compared with the other steps.
  struct Ratio {
    double value;   ///< the step's mean / the median of the steps' means
    double weight;  ///< ns that the name's calls in the step would take at that median
  };
  std::vector<std::vector<Ratio>> ratios() const {
    std::vector<std::vector<Ratio>> by_step(steps_);
    for (std::size_t slot = 0; slot < slots_; ++slot) {
      std::vector<std::int64_t> means;
      for (std::size_t step = 0; step < steps_; ++step)
        if (const std::size_t at = slot * steps_ + step; count_[at] > 0)
          means.push_back(report::mean(total_[at], count_[at]));
      const std::int64_t usual = report::quantile(means, 0.5);
      for (std::size_t step = 0; step < steps_; ++step)
        if (const std::size_t at = slot * steps_ + step; count_[at] > 0 && usual > 0)
          by_step[step].push_back({report::ratio(report::mean(total_[at], count_[at]), usual),
                                   static_cast<double>(usual) * static_cast<double>(count_[at])});
    }
    return by_step;
  }

 private:
  std::size_t steps_, slots_ = 0;
  std::vector<std::size_t> slot_;  // by name: index + 1; 0: too few calls
  std::vector<std::int64_t> total_, count_;
};

/// Median of the ratios by weight; kNoReal if there are too few.
double weighted_median(std::vector<Means::Ratio>& ratios) {
  if (ratios.size() < kMinNames) return report::kNoReal;
  std::sort(ratios.begin(), ratios.end(),
            [](const Means::Ratio& a, const Means::Ratio& b) { return a.value < b.value; });
  double weight = 0, below = 0;
  for (const Means::Ratio& ratio : ratios) weight += ratio.weight;
  for (const Means::Ratio& ratio : ratios)
    if ((below += ratio.weight) * 2 >= weight) return ratio.value;
  return ratios.back().value;
}

double slower_share(const std::vector<Means::Ratio>& ratios) {
  if (ratios.size() < kMinNames) return report::kNoReal;
  double weight = 0, slower = 0;
  for (const Means::Ratio& ratio : ratios) {
    weight += ratio.weight;
    if (ratio.value >= kSlower) slower += ratio.weight;
  }
  return weight > 0 ? slower / weight : report::kNoReal;
}

Means own_times(const trace::Trace& trace, const Rank& rank) {
  const EventTable& e = rank.events;
  Means means(trace, rank, kMinOpCalls, [&](Row row) { return e.kind[row] == Kind::op; });
  Column<std::int64_t> own(e.size(), 0);
  for (Row row = 0; row < e.size(); ++row) {
    if (!is_host_range(e.kind[row])) continue;
    own[row] += e.duration(row);
    if (const Row parent = e.parent[row]; parent != kNoRow) own[parent] -= e.duration(row);
  }
  for (Row row = 0; row < e.size(); ++row)
    if (e.kind[row] == Kind::op) means.add(e.name[row], e.step[row], std::max<std::int64_t>(0, own[row]));
  return means;
}

Means kernel_times(const trace::Trace& trace, const Rank& rank) {
  const EventTable& e = rank.events;
  const auto computes = [&](Row row) { return e.work[row] == trace::Work::compute; };
  Means means(trace, rank, kMinKernelCalls, computes);
  for (Row row = 0; row < e.size(); ++row)
    if (computes(row)) means.add(e.name[row], e.step[row], e.duration(row));
  return means;
}

}  // namespace

std::vector<StepPace> step_paces(const trace::Trace& trace, const Rank& rank) {
  std::vector<StepPace> paces(rank.steps.size());
  if (paces.size() < kMinPacedSteps) return paces;
  auto host = own_times(trace, rank).ratios(), device = kernel_times(trace, rank).ratios();
  for (std::size_t step = 0; step < paces.size(); ++step)
    paces[step] = {weighted_median(host[step]), slower_share(host[step]), weighted_median(device[step])};
  return paces;
}

}  // namespace stepscope::analyze
