#include "derive/growth/category_walk.h"

#include <algorithm>
#include <numeric>

namespace stepscope::derive {

JudgedRecords judged_records(const trace::Trace& trace, const trace::Rank& rank, const MemoryRecords& records,
                             const TensorDegrees& degrees) {
  JudgedRecords out{allocation_growth(trace, rank, records, degrees), {}};
  std::vector<bool> is_parameter(out.growth.size());
  for (std::size_t i = 0; i < out.growth.size(); ++i) is_parameter[i] = out.growth[i].is_parameter;
  out.uses = memory_uses(trace, rank, records, is_parameter);
  return out;
}

std::int64_t CategoryLevels::all() const { return std::accumulate(bytes.begin(), bytes.end(), before); }

CategoryWalk::CategoryWalk(const MemoryRecords& records, const std::vector<MemoryUse>& uses)
    : records_(records), uses_(uses), ends_(records.size(), MemoryRecords::kNever) {
  for (std::uint32_t i = 0; i < records.size(); ++i)
    if (records.freed[i] != MemoryRecords::kNever) ends_[records.freed[i]] = i;
  std::int64_t lowest = 0;
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    apply(i);
    lowest = std::min(lowest, now_.before);
  }
  now_ = {};
  known_ = 0;
  base_ = -lowest;
}

bool CategoryWalk::next() {
  const std::uint32_t at = record_ + 1;  // kNever + 1 is 0
  if (at >= records_.size()) return false;
  apply(at);
  record_ = at;
  return true;
}

void CategoryWalk::apply(std::uint32_t record) {
  if (ends_[record] != MemoryRecords::kNever) add(ends_[record], -1);
  if (records_.bytes[record] > 0) add(record, 1);
  now_.before = base_ + records_.level(record) - known_;
}

void CategoryWalk::add(std::uint32_t allocation, std::int64_t sign) {
  const auto use = static_cast<std::size_t>(uses_[allocation]);
  now_.bytes[use] += sign * records_.bytes[allocation];
  now_.count[use] += sign;
  known_ += sign * records_.bytes[allocation];
}

}  // namespace stepscope::derive
