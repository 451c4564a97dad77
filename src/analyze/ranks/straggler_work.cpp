#include "analyze/ranks/straggler_work.h"

#include <algorithm>
#include <cstdlib>

#include "base/median.h"

namespace stepscope::analyze {

using derive::PartsOfStep;
using derive::StepPart;
using derive::Straggler;
using timeline::Time;

namespace {

/// Time of the straggler's part on a rank: median over steps, or in the one step in which the straggler is
/// slow.
Time time_of(const std::vector<PartsOfStep>& steps, const Straggler& straggler) {
  const auto part = static_cast<std::size_t>(straggler.part);
  if (!straggler.persistent) return steps[straggler.step][part];
  std::vector<Time> times;
  for (const PartsOfStep& step : steps) times.push_back(step[part]);
  return median_of(times);
}

}  // namespace

PartTimes part_times(const std::vector<std::vector<PartsOfStep>>& parts, const Straggler& straggler,
                     const std::vector<std::uint32_t>& peers) {
  PartTimes out;
  out.own = time_of(parts[straggler.rank], straggler);
  std::vector<Time> others;
  for (const std::uint32_t r : peers)
    if (r != straggler.rank) others.push_back(time_of(parts[r], straggler));
  out.others = median_of(others);
  for (const Time time : others) out.apart = std::max(out.apart, std::abs(time - out.others));
  return out;
}

namespace {

/// The peer with the median compute time; the straggler itself if it has no peers.
std::uint32_t usual_peer(const std::vector<std::vector<PartsOfStep>>& parts, const Straggler& straggler,
                         std::vector<std::uint32_t> peers) {
  std::erase(peers, straggler.rank);
  if (peers.empty()) return straggler.rank;
  std::stable_sort(peers.begin(), peers.end(), [&](std::uint32_t a, std::uint32_t b) {
    return time_of(parts[a], straggler) < time_of(parts[b], straggler);
  });
  return peers[(peers.size() - 1) / 2];
}

}  // namespace

std::vector<SlowKernels> slow_kernels(const Derived& derived,
                                      const std::vector<std::vector<PartsOfStep>>& parts,
                                      const std::vector<Straggler>& stragglers,
                                      const std::vector<std::vector<std::uint32_t>>& peers) {
  std::vector<SlowKernels> out;
  for (std::size_t i = 0; i < stragglers.size(); ++i) {
    const Straggler& s = stragglers[i];
    if (!s.persistent || s.part != StepPart::compute) continue;
    const trace::Rank &slow = derived.trace().ranks[s.rank],
                      &usual = derived.trace().ranks[usual_peer(parts, s, peers[i])];
    const derive::KernelDifference difference =
        derive::kernel_difference(derived.steps(slow).kernels, derived.steps(usual).kernels);
    out.push_back({slow.rank, usual.rank, difference.calls, difference.others_calls, difference.same,
                   difference.pace > 0 ? difference.pace : report::kNoReal, difference.even});
  }
  return out;
}

}  // namespace stepscope::analyze
