#include "analyze/steps/step_pace.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "derive/shape_windows.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

constexpr timeline::Interval kAlways{std::numeric_limits<std::int64_t>::min(),
                                     std::numeric_limits<std::int64_t>::max()};
constexpr std::size_t kMinPacedSteps = 3, kMinNames = 5;
constexpr std::int64_t kMinOpCalls = 8, kMinKernelCalls = 5;  // per step

/// Ops and compute kernels of steps by name and shapes of the inputs: a call on a larger batch takes longer,
/// which is no change of pace.
class Calls {
 public:
  Calls(const trace::Trace& trace, const Rank& rank) : kind_(rank.events.size(), 0) {
    const trace::ArgReader shapes(trace, rank, "Input Dims");
    const derive::ShapeWindows windows(trace, rank, kAlways);
    std::unordered_map<std::uint64_t, std::uint32_t> known;
    const EventTable& e = rank.events;
    for (Row row = 0; row < e.size(); ++row) {
      if (e.step[row] < 0 || (e.kind[row] != Kind::op && e.work[row] != trace::Work::compute)) continue;
      if (windows.lacks(row)) continue;
      const std::uint64_t key = std::uint64_t{e.name[row]} << 32U | shapes.id(row);
      kind_[row] = known.try_emplace(key, static_cast<std::uint32_t>(known.size() + 1)).first->second;
    }
    kinds_ = known.size() + 1;
  }
  std::size_t kinds() const { return kinds_; }
  std::uint32_t kind(Row row) const { return kind_[row]; }

 private:
  Column<std::uint32_t> kind_;  // 0: of none
  std::size_t kinds_ = 0;
};

/// Mean time per call, by kind of call and step, of kinds with enough calls.
class Means {
 public:
  template <class Counts>
  Means(const Calls& of, const Rank& rank, std::int64_t min_calls, Counts counts)
      : steps_(rank.steps.size()), slot_(of.kinds()) {
    const EventTable& e = rank.events;
    std::vector<std::int64_t> calls(of.kinds());
    for (Row row = 0; row < e.size(); ++row) calls[of.kind(row)] += e.step[row] >= 0 && counts(row);
    for (std::size_t kind = 0; kind < calls.size(); ++kind)
      if (calls[kind] >= min_calls * static_cast<std::int64_t>(steps_)) slot_[kind] = ++slots_;
    total_.resize(slots_ * steps_);
    count_.resize(slots_ * steps_);
  }
  void add(std::uint32_t kind, std::int32_t step, std::int64_t time) {
    if (step < 0 || slot_[kind] == 0) return;
    const std::size_t at = (slot_[kind] - 1) * steps_ + static_cast<std::size_t>(step);
    report::add_to(total_[at], time);
    ++count_[at];
  }
  /// Time per call of a kind in one step, compared with the other steps.
  struct Ratio {
    double value;   ///< the step's mean / the median of the steps' means
    double weight;  ///< ns that the kind's calls in the step would take at that median
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
  std::vector<std::size_t> slot_;  // by kind: index + 1; 0: too few calls
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

Means own_times(const Calls& calls, const Rank& rank) {
  const EventTable& e = rank.events;
  Means means(calls, rank, kMinOpCalls, [&](Row row) { return e.kind[row] == Kind::op; });
  Column<std::int64_t> own(e.size(), 0);
  for (Row row = 0; row < e.size(); ++row) {
    if (!is_host_range(e.kind[row])) continue;
    own[row] += e.duration(row);
    if (const Row parent = e.parent[row]; parent != kNoRow) own[parent] -= e.duration(row);
  }
  for (Row row = 0; row < e.size(); ++row)
    if (e.kind[row] == Kind::op) means.add(calls.kind(row), e.step[row], std::max<std::int64_t>(0, own[row]));
  return means;
}

Means kernel_times(const Calls& calls, const Rank& rank) {
  const EventTable& e = rank.events;
  const auto computes = [&](Row row) { return e.work[row] == trace::Work::compute; };
  Means means(calls, rank, kMinKernelCalls, computes);
  for (Row row = 0; row < e.size(); ++row)
    if (computes(row)) means.add(calls.kind(row), e.step[row], e.duration(row));
  return means;
}

}  // namespace

std::vector<StepPace> step_paces(const trace::Trace& trace, const Rank& rank) {
  std::vector<StepPace> paces(rank.steps.size());
  if (paces.size() < kMinPacedSteps) return paces;
  const Calls calls(trace, rank);
  auto host = own_times(calls, rank).ratios(), device = kernel_times(calls, rank).ratios();
  for (std::size_t step = 0; step < paces.size(); ++step)
    paces[step] = {weighted_median(host[step]), slower_share(host[step]), weighted_median(device[step])};
  return paces;
}

}  // namespace stepscope::analyze
