#include "derive/ranks/kernel_totals.h"

#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/key_hash.h"

namespace stepscope::derive {
namespace {

constexpr double kAboutEqual = 0.1;

std::uint64_t number_of(const trace::Trace& trace,
                        const std::tuple<trace::StringId, trace::StringId, trace::StringId>& kernel) {
  const HashSeed seed = process_hash_seed();
  const auto [name, grid, block] = kernel;
  return hash_of_all(seed, hash_of(trace.text(name), seed), hash_of(trace.text(grid), seed),
                     hash_of(trace.text(block), seed));
}

}  // namespace

KernelTotals kernel_totals(const trace::Trace& trace, const trace::Rank& rank,
                           const std::vector<bool>& chosen) {
  const trace::EventTable& e = rank.events;
  const trace::ArgReader grid(trace, rank, "grid"), block(trace, rank, "block");
  KernelTotals totals;
  for (const bool step : chosen) totals.steps += step;
  std::map<std::tuple<trace::StringId, trace::StringId, trace::StringId>, std::size_t> places;
  for (const trace::Row row : rank.device_rows()) {
    if (e.work[row] != trace::Work::compute || e.step[row] < 0 ||
        !chosen[static_cast<std::size_t>(e.step[row])])
      continue;
    const auto [place, added] =
        places.try_emplace({e.name[row], grid.id(row), block.id(row)}, totals.kernels.size());
    if (added) totals.kernels.push_back({number_of(trace, place->first)});
    KernelTotals::Equal& kernel = totals.kernels[place->second];
    ++kernel.count;
    kernel.time += static_cast<double>(e.duration(row));
  }
  return totals;
}

KernelDifference kernel_difference(const KernelTotals& own, const KernelTotals& other) {
  if (own.steps == 0 || other.steps == 0) return {};
  std::unordered_map<std::uint64_t, const KernelTotals::Equal*> others;
  KernelDifference out;
  for (const KernelTotals::Equal& kernel : other.kernels) {
    others.emplace(kernel.kernel, &kernel);
    out.others_calls += static_cast<double>(kernel.count);
  }
  std::vector<std::pair<double, double>> same;  // ns per step on this rank and on the other
  double all = 0, here = 0, there = 0, even = 0;
  const auto own_steps = static_cast<double>(own.steps), other_steps = static_cast<double>(other.steps);
  for (const KernelTotals::Equal& kernel : own.kernels) {
    out.calls += static_cast<double>(kernel.count);
    all += kernel.time / own_steps;
    const auto found = others.find(kernel.kernel);
    if (found == others.end() || found->second->count * own.steps != kernel.count * other.steps) continue;
    same.emplace_back(kernel.time / own_steps, found->second->time / other_steps);
    here += same.back().first;
    there += same.back().second;
  }
  out.calls /= own_steps;
  out.others_calls /= other_steps;
  if (all <= 0 || there <= 0) return out;
  out.same = here / all;
  out.pace = here / there;
  for (const auto& [ours, theirs] : same)
    if (std::abs(ours - out.pace * theirs) <= kAboutEqual * out.pace * theirs) even += ours;
  out.even = here > 0 ? even / here : 0;
  return out;
}

}  // namespace stepscope::derive
