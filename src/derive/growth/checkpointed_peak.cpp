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

/// What one call keeps. Indices of records.
struct KeptCall {
  std::uint32_t begin = kNever, end = 0;  ///< the first record of the call, and the first after it
  std::uint32_t again = kNever;           ///< the first record after it is called again
  std::uint32_t output = kNever;
  std::int64_t kept = 0;       ///< bytes, without the output
  std::int64_t transient = 0;  ///< most bytes above those that it leaves
};

class Checkpointing {
 public:
  Checkpointing(const trace::Rank& rank, const MemoryRecords& records, const std::vector<bool>& in_backward,
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
    find_kept();
  }

  CheckpointedPeak peak() const {
    CheckpointedPeak out;
    std::vector<std::int64_t> change(records_.size() + 1);  // of the level after each record
    std::vector<std::int64_t> extra(records_.size() + 1);   // at most, at that record alone
    std::vector<std::int64_t> held(records_.size() + 1);
    for (const KeptCall& call : calls_) {
      if (call.kept == 0) continue;
      const std::uint32_t again = std::max(call.again, call.end);
      change[call.end - 1] -= call.kept;
      change[again] += call.kept;
      extra[again] = std::max(extra[again], call.transient + bytes_of(call.output));
    }
    for (std::uint32_t i = 0; i < records_.size(); ++i)
      if (is_kept(i)) {
        held[i] += records_.bytes[i];
        held[records_.freed[i]] -= records_.bytes[i];
      }
    std::int64_t dropped = 0, now_held = 0, highest = INT64_MIN;
    for (std::uint32_t i = 0; i < records_.size(); ++i) {
      dropped += change[i];
      now_held += held[i];
      const std::int64_t level = records_.level(i);
      if (level > highest) highest = level, out.held = now_held;
      // What is made again at this record is there before the record's own change.
      const std::int64_t before = extra[i] == 0 ? level : std::max(level, level - records_.bytes[i]);
      out.low = std::max(out.low, level + dropped);
      out.high = std::max(out.high, before + dropped + extra[i]);
    }
    return out;
  }

 private:
  bool is_kept(std::uint32_t record) const {
    const std::uint32_t call = call_of_[record];
    return call != kNever && records_.bytes[record] > 0 && record != calls_[call].output &&
           records_.freed[record] != kNever && in_backward_[records_.freed[record]];
  }
  std::int64_t bytes_of(std::uint32_t record) const { return record == kNever ? 0 : records_.bytes[record]; }

  void find_kept() {
    for (std::uint32_t i = 0; i < records_.size(); ++i) {
      if (call_of_[i] == kNever || records_.bytes[i] <= 0) continue;
      KeptCall& call = calls_[call_of_[i]];
      if (records_.freed[i] >= call.end) call.output = i;
    }
    for (std::uint32_t i = 0; i < records_.size(); ++i) {
      if (!is_kept(i)) continue;
      KeptCall& call = calls_[call_of_[i]];
      call.kept += records_.bytes[i];
      call.again = std::min(call.again, first_record_around(records_.freed[i]));
    }
    for (KeptCall& call : calls_) {
      if (call.begin == kNever) continue;
      for (std::uint32_t i = call.begin; i < call.end; ++i)
        call.transient = std::max(call.transient, records_.level(i) - records_.level(call.end - 1));
    }
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
  std::vector<KeptCall> calls_;
};

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

CheckpointedPeak checkpointed_peak(const trace::Rank& rank, const MemoryRecords& records,
                                   const std::vector<bool>& in_backward,
                                   const std::vector<trace::Row>& calls) {
  return Checkpointing(rank, records, in_backward, calls).peak();
}

}  // namespace stepscope::derive
