#include "derive/growth/checkpointed_peak.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "derive/phases.h"

namespace stepscope::derive {
namespace {

using trace::kNoRow;
using trace::Row;

constexpr std::uint32_t kNever = MemoryRecords::kNever;
constexpr timeline::Time kFirst = std::numeric_limits<timeline::Time>::min() / 2,
                         kLast = std::numeric_limits<timeline::Time>::max() / 2;

class KeptCalls {
 public:
  KeptCalls(const trace::Rank& rank, const MemoryRecords& records, const std::vector<bool>& in_backward,
            const std::vector<Row>& calls)
      : e_(rank.events),
        records_(records),
        in_backward_(in_backward),
        call_of_(records.size(), kNever),
        calls_(calls.size()) {
    std::unordered_map<Row, std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < calls.size(); ++i) numbers.emplace(calls[i], i);
    for (std::uint32_t i = 0; i < records.size(); ++i)
      for (Row row = records.range[i]; row != kNoRow && call_of_[i] == kNever; row = e_.parent[row])
        if (const auto found = numbers.find(row); found != numbers.end()) call_of_[i] = found->second;
    for (std::uint32_t i = 0; i < records.size(); ++i)
      if (const std::uint32_t call = call_of_[i]; call != kNever) {
        calls_[call].begin = std::min(calls_[call].begin, i);
        calls_[call].end = i + 1;
      }
  }

  std::vector<RecomputedCall> kept() && {
    for (std::uint32_t i = 0; i < records_.size(); ++i)
      if (call_of_[i] != kNever && records_.bytes[i] > 0 && records_.freed[i] >= calls_[call_of_[i]].end)
        calls_[call_of_[i]].output = i;
    for (std::uint32_t i = 0; i < records_.size(); ++i) {
      if (!is_kept(i)) continue;
      RecomputedCall& call = calls_[call_of_[i]];
      call.kept.push_back(i);
      call.again = std::min(call.again, first_record_around(records_.freed[i]));
    }
    std::erase_if(calls_, [](const RecomputedCall& call) { return call.kept.empty(); });
    for (RecomputedCall& call : calls_) call.again = std::max(call.again, call.end);
    return std::move(calls_);
  }

 private:
  bool is_kept(std::uint32_t record) const {
    const std::uint32_t call = call_of_[record];
    return call != kNever && records_.bytes[record] > 0 && record != calls_[call].output &&
           records_.freed[record] != kNever && in_backward_[records_.freed[record]];
  }

  /// The first record in the outermost range around a record.
  std::uint32_t first_record_around(std::uint32_t record) const {
    Row outermost = records_.range[record];
    if (outermost == kNoRow) return record;
    // A range that the whole pass is in, such as the call of backward(), is not the node.
    for (Row up = e_.parent[outermost]; up != kNoRow && e_.kind[up] == trace::Kind::op; up = e_.parent[up])
      outermost = up;
    const auto first = std::ranges::lower_bound(records_.row, e_.start[outermost], {},
                                                [&](Row row) { return e_.start[row]; });
    return static_cast<std::uint32_t>(first - records_.row.begin());
  }

  const trace::EventTable& e_;
  const MemoryRecords& records_;
  const std::vector<bool>& in_backward_;
  std::vector<std::uint32_t> call_of_;  // by record
  std::vector<RecomputedCall> calls_;
};

/// Most bytes that a call has above those that it leaves.
std::int64_t transient_of(const MemoryRecords& records, const RecomputedCall& call) {
  std::int64_t most = 0;
  for (std::uint32_t i = call.begin; i < call.end; ++i)
    most = std::max(most, records.level(i) - records.level(call.end - 1));
  return most;
}

}  // namespace

std::vector<bool> in_backward_passes(const trace::Trace& trace, const trace::Rank& rank,
                                     const MemoryRecords& records) {
  const PhaseTimes phases = phase_times(trace, rank, {kFirst, kLast});
  const PhaseAt phase(phases);
  std::vector<bool> out(records.size());
  for (std::uint32_t i = 0; i < records.size(); ++i)
    out[i] = phase(rank.events.start[records.row[i]]) == Phase::backward;
  return out;
}

std::vector<RecomputedCall> recomputed_calls(const trace::Rank& rank, const MemoryRecords& records,
                                             const std::vector<bool>& in_backward,
                                             const std::vector<trace::Row>& calls) {
  return KeptCalls(rank, records, in_backward, calls).kept();
}

CheckpointedPeak checkpointed_peak(const MemoryRecords& records, const std::vector<RecomputedCall>& calls) {
  CheckpointedPeak out;
  std::vector<std::int64_t> change(records.size() + 1);  // of the level after each record
  std::vector<std::int64_t> extra(records.size() + 1);   // at most, at that record alone
  std::vector<std::int64_t> held(records.size() + 1);
  for (const RecomputedCall& call : calls) {
    for (const std::uint32_t i : call.kept) {
      change[call.end - 1] -= records.bytes[i];
      change[call.again] += records.bytes[i];
      held[i] += records.bytes[i];
      held[records.freed[i]] -= records.bytes[i];
    }
    const std::int64_t output = call.output == kNever ? 0 : records.bytes[call.output];
    extra[call.again] = std::max(extra[call.again], transient_of(records, call) + output);
  }
  std::int64_t dropped = 0, now_held = 0, highest = INT64_MIN;
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    dropped += change[i];
    now_held += held[i];
    const std::int64_t level = records.level(i);
    if (level > highest) highest = level, out.held = now_held;
    // What is made again at this record is there before the record's own change.
    const std::int64_t before = level - records.bytes[i];
    out.low = std::max(out.low, level + dropped);
    out.high = std::max(out.high, std::max(level, extra[i] == 0 ? level : before + extra[i]) + dropped);
  }
  return out;
}

}  // namespace stepscope::derive
