#include "derive/growth/memory_plan.h"

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

PlannedPeak MemoryPlan::peak(const PlanChange& change) const {
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
  for (std::uint32_t i = 0; i < records_.size(); ++i) {
    if (ends_[i] != MemoryRecords::kNever) change_by(ends_[i], -1);
    if (records_.bytes[i] > 0) {
      change_by(i, 1);
    } else if (ends_[i] == MemoryRecords::kNever) {  // held since before the recording
      low_level += static_cast<double>(records_.bytes[i]);
      high_level += static_cast<double>(records_.bytes[i]);
      low[kMemoryUses] += static_cast<double>(records_.bytes[i]);
      high[kMemoryUses] += static_cast<double>(records_.bytes[i]);
    }
    out.low = std::max(out.low, low_level);
    if (high_level > out.high) out.high = high_level, out.at = i, out.parts_low = low, out.parts_high = high;
  }
  return out;
}

}  // namespace stepscope::derive
