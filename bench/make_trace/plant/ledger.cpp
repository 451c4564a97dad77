#include "make_trace/plant/ledger.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace stepscope::make_trace {
namespace {

/// Length of the union of intervals that are added in order of their starts.
class Union {
 public:
  void add(std::int64_t start, std::int64_t end) {
    start = std::max(start, reached_);
    if (end <= start) return;
    length_ += end - start;
    reached_ = end;
  }
  std::int64_t length() const { return length_; }
  std::int64_t reached() const { return reached_; }

 private:
  std::int64_t reached_ = -1;
  std::int64_t length_ = 0;
};

}  // namespace

const char* idle_name(Idle cause) {
  constexpr const char* kNames[kIdleCauses] = {"input", "sync",  "alloc",  "launch", "runtime",
                                               "op",    "other", "refill", "pending"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::int64_t StepLedger::idle_sum() const {
  return std::accumulate(idle.begin(), idle.end(), std::int64_t{0});
}

Ledger::Ledger(const Program& program, std::int64_t window_start)
    : program_(program), device_end_(window_start) {}

std::vector<const DeviceRow*> Ledger::by_start(const StepRows& rows) const {
  std::vector<const DeviceRow*> sorted;
  for (const DeviceRow& row : rows.device) sorted.push_back(&row);
  std::ranges::sort(sorted, {}, [](const DeviceRow* row) { return std::pair{row->start, row->correlation}; });
  return sorted;
}

StepLedger Ledger::add(const StepRows& rows, const std::vector<std::int64_t>& last_starts,
                       std::int64_t first_number) {
  StepLedger ledger;
  ledger.step = rows.step;
  ledger.host_start = rows.host_start;
  ledger.host_end = rows.host_end;
  ledger.device_start = device_end_;
  for (const Segment& s : rows.segments)
    if (s.doing != Doing::sync) ledger.host_work += s.end - s.start;
  segments_.insert(segments_.end(), rows.segments.begin(), rows.segments.end());

  Union compute, busy, all, comm, own;
  std::int64_t reached = device_end_;
  for (const DeviceRow* row : by_start(rows)) {
    if (row->start < device_end_)
      throw std::logic_error("work of a step began before the step before it ended");
    if (row->start > reached) blame(reached, row->start, row->launch_start, ledger);
    reached = std::max(reached, row->end);
    const WorkInfo& work = program_.works[row->work];
    const WorkKind kind = work.kind;
    if (kind == WorkKind::kernel) compute.add(row->start, row->end);
    if (kind == WorkKind::collective) {
      comm.add(row->start, row->end);
      ledger.comm_wait += last_starts[static_cast<std::size_t>(row->collective - first_number)] - row->start;
    }
    if (kind == WorkKind::kernel || kind == WorkKind::collective) busy.add(row->start, row->end);
    if (!work.members.message) own.add(row->start, row->end);
    all.add(row->start, row->end);
  }
  ledger.launches = static_cast<std::int64_t>(rows.device.size());
  ledger.device_end = device_end_ = reached;
  ledger.compute = compute.length();
  ledger.exposed_comm = busy.length() - compute.length();
  ledger.exposed_copy = all.length() - busy.length();
  ledger.comm = comm.length();
  ledger.only_messages = all.length() - own.length();
  std::erase_if(segments_, [&](const Segment& s) { return s.end <= device_end_; });
  return ledger;
}

void Ledger::blame(std::int64_t from, std::int64_t to, std::int64_t launch, StepLedger& ledger) const {
  const auto charge = [&](Idle cause, std::int64_t ns) {
    ledger.idle[static_cast<std::size_t>(cause)] += ns;
  };
  const std::int64_t late_end = std::clamp(launch, from, to);
  charge(Idle::pending, to - late_end);
  bool after_sync = false;
  std::int64_t covered = from;
  auto segment = std::ranges::lower_bound(segments_, from + 1, {}, &Segment::end);
  for (; segment != segments_.end() && segment->start < late_end; ++segment) {
    const std::int64_t start = std::max(segment->start, from);
    const std::int64_t end = std::min(segment->end, late_end);
    charge(Idle::other, start - covered);
    covered = end;
    if (segment->doing == Doing::sync) {
      charge(Idle::sync, end - start);
      after_sync = true;
    } else if (segment->doing == Doing::input || !after_sync) {
      charge(static_cast<Idle>(segment->doing), end - start);
    } else {
      charge(Idle::refill, end - start);
    }
  }
  charge(Idle::other, late_end - covered);
}

}  // namespace stepscope::make_trace
