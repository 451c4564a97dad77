#include "derive/growth/memory_plan.h"

#include <algorithm>
#include <cmath>

namespace stepscope::derive {
namespace {

double grown(double batch, double sequence, Degree degree) {
  return std::pow(batch, degree.batch) * std::pow(sequence, degree.sequence);
}

std::size_t part_of(MemoryUse use) { return static_cast<std::size_t>(use); }

}  // namespace

MemoryPlan::MemoryPlan(const MemoryRecords& records, const std::vector<AllocationGrowth>& growth,
                       const std::vector<MemoryUse>& uses, HeldBefore before)
    : records_(records),
      growth_(growth),
      uses_(uses),
      before_(before),
      ends_(records.size(), MemoryRecords::kNever) {
  for (std::uint32_t i = 0; i < records.size(); ++i)
    if (records.freed[i] != MemoryRecords::kNever) ends_[records.freed[i]] = i;
}

Factor MemoryPlan::factor(std::uint32_t record, const PlanChange& change) const {
  const AllocationGrowth& of = growth_[record];
  const double a = grown(change.batch, change.sequence, of.degree.low);
  const double b = grown(change.batch, change.sequence, of.degree.high);
  Factor out{std::min(a, b), std::max(a, b)};
  const auto times = [&](const Factor& by) { out = {out.low * by.low, out.high * by.high}; };
  if (uses_[record] == MemoryUse::optimizer_state)
    times(change.optimizer_state);
  else if (of.in_optimizer)
    times(change.optimizer_temporaries);
  else if (of.type == DType::float32)
    times(of.is_parameter ? change.weights : change.floats);
  return out;
}

/// Most bytes that a call has above those that it leaves, with its output once more.
double MemoryPlan::transient_of(const RecomputedCall& call, const PlanChange& change) const {
  double level = 0, most = 0;
  const auto planned = [&](std::uint32_t record) {
    return static_cast<double>(records_.bytes[record]) * factor(record, change).high;
  };
  for (std::uint32_t i = call.begin; i < call.end; ++i) {
    if (ends_[i] != MemoryRecords::kNever) level -= planned(ends_[i]);
    if (records_.bytes[i] > 0) level += planned(i);
    most = std::max(most, level);
  }
  return most - level + (call.output == MemoryRecords::kNever ? 0 : planned(call.output));
}

PlannedPeak MemoryPlan::peak(const PlanChange& change, const std::vector<RecomputedCall>& recomputed) const {
  struct Move {
    std::uint32_t at, record;
    double sign;
  };
  std::vector<Move> moves;
  std::vector<std::pair<std::uint32_t, double>> extras;
  for (const RecomputedCall& call : recomputed) {
    for (const std::uint32_t record : call.kept) {
      moves.push_back({call.end - 1, record, -1});
      moves.push_back({call.again, record, 1});
    }
    extras.emplace_back(call.again, transient_of(call, change));
  }
  std::ranges::stable_sort(moves, {}, &Move::at);
  std::ranges::sort(extras);
  PlanParts low{}, high{};
  const auto add = [&](MemoryUse use, double bytes, const Factor& factor) {
    low[part_of(use)] += bytes * factor.low;
    high[part_of(use)] += bytes * factor.high;
  };
  add(MemoryUse::parameter, static_cast<double>(before_.parameters), change.weights);
  add(MemoryUse::gradient, static_cast<double>(before_.gradients), change.weights);
  add(MemoryUse::optimizer_state, static_cast<double>(before_.optimizer_state), change.optimizer_state);
  low[kMemoryUses] = static_cast<double>(before_.other) + change.more_low;
  high[kMemoryUses] = static_cast<double>(before_.other + before_.buffers) + change.more_high;
  high[part_of(MemoryUse::optimizer_state)] +=
      static_cast<double>(before_.more_state) * change.optimizer_state.high;
  double low_level = 0, high_level = 0;
  for (std::size_t part = 0; part < kPlanParts; ++part) low_level += low[part], high_level += high[part];

  PlannedPeak out{low_level, high_level, 0, low, high};
  const auto change_by = [&](std::uint32_t record, double sign) {
    const double bytes = sign * static_cast<double>(records_.bytes[record]);
    const Factor by = factor(record, change);
    low_level += bytes * by.low;
    high_level += bytes * by.high;
    add(uses_[record], bytes, by);
  };
  const auto take_high = [&](double besides, std::uint32_t at) {
    if (high_level + besides <= out.high) return;
    out.high = high_level + besides;
    out.at = at;
    out.parts_low = low;
    out.parts_high = high;
    out.parts_high[part_of(MemoryUse::temporary)] += besides;
  };
  auto move = moves.begin();
  auto extra = extras.begin();
  for (std::uint32_t i = 0; i < records_.size(); ++i) {
    for (; move != moves.end() && move->at == i && move->sign > 0; ++move) change_by(move->record, 1);
    // What is made again at this record is there before the record's own change.
    for (; extra != extras.end() && extra->first == i; ++extra) take_high(extra->second, i);
    if (ends_[i] != MemoryRecords::kNever) change_by(ends_[i], -1);
    if (records_.bytes[i] > 0) {
      change_by(i, 1);
    } else if (ends_[i] == MemoryRecords::kNever) {  // held since before the recording
      low_level += static_cast<double>(records_.bytes[i]);
      high_level += static_cast<double>(records_.bytes[i]);
      low[kMemoryUses] += static_cast<double>(records_.bytes[i]);
      high[kMemoryUses] += static_cast<double>(records_.bytes[i]);
    }
    for (; move != moves.end() && move->at == i; ++move) change_by(move->record, move->sign);
    out.low = std::max(out.low, low_level);
    take_high(0, i);
  }
  return out;
}

}  // namespace stepscope::derive
