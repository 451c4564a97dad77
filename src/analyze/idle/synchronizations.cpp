#include "analyze/idle/synchronizations.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "analyze/list.h"
#include "derive/idle/device_busy.h"
#include "derive/idle/launch_queue.h"
#include "derive/idle/loading.h"
#include "derive/kernel_class.h"
#include "derive/source_line.h"
#include "report/statistics.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Shape;
using report::Unit;
using timeline::Interval;
using timeline::IntervalSet;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

constexpr std::int64_t kMinWait = 1'000;

/// Whether a copy's host memory is pageable or not recorded: the runtime must wait for such a copy.
bool through_pageable_memory(std::string_view copy) {
  const derive::HostMemory memory = derive::host_memory(copy);
  return memory == derive::HostMemory::pageable ||
         (memory == derive::HostMemory::unknown && copy.find("Host") != std::string_view::npos);
}

/// Some runtimes record both a call and a call nested in it.
bool inside_waiting_call(const EventTable& e, const std::vector<bool>& waited, Row row) {
  constexpr int kMaxNested = 16;
  Row at = e.parent[row];
  for (int level = 0; at != kNoRow && e.kind[at] == Kind::runtime && level < kMaxNested;
       ++level, at = e.parent[at])
    if (waited[at]) return true;
  return false;
}

/// Runtime calls that waited, by start.
std::vector<Row> blocking_calls(const trace::Trace& trace, const Rank& rank) {
  const EventTable& e = rank.events;
  trace::AskedOnce blocks(trace.strings, derive::is_blocking_call);
  trace::AskedOnce pageable(trace.strings, through_pageable_memory);
  std::vector<bool> waited(e.size());
  for (Row row = 0; row < e.size(); ++row) {
    if (e.kind[row] == Kind::runtime && blocks(e.name[row])) waited[row] = true;
    if (e.kind[row] == Kind::memcpy && e.launch[row] != kNoRow && pageable(e.name[row]) &&
        derive::stayed_for_copy(e, e.launch[row], row))
      waited[e.launch[row]] = true;
  }
  std::vector<Row> calls;
  for (Row row = 0; row < e.size(); ++row)
    if (waited[row] && e.duration(row) >= kMinWait && !inside_waiting_call(e, waited, row))
      calls.push_back(row);
  std::stable_sort(calls.begin(), calls.end(), [&](Row a, Row b) {
    return std::tuple(e.start[a], e.end[a], trace.name(rank, a)) <
           std::tuple(e.start[b], e.end[b], trace.name(rank, b));
  });
  return calls;
}

/// Device work around blocking calls.
class DeviceAround {
 public:
  explicit DeviceAround(const std::vector<derive::DeviceBusy>& devices) : busy_(derive::busy_time(devices)) {}
  bool known() const { return !busy_.set().empty(); }
  std::int64_t busy_in(Interval span) const { return busy_.length_in(span); }

  /// Idle time from the return of a call until device work starts or the next blocking call begins. Empty
  /// when no device work follows.
  Interval refill(std::int64_t from, std::int64_t next_call) const {
    const auto parts = busy_.set().parts();
    const auto next = std::upper_bound(parts.begin(), parts.end(), from,
                                       [](std::int64_t t, const Interval& part) { return t < part.end; });
    if (next == parts.end() || next->begin <= from) return {};
    return {from, std::min(next->begin, next_call)};
  }
  /// From the end of the last device work in a call until the call returned. Earlier gaps do not count: they
  /// ended with work that was already launched.
  Interval drained_in(Interval span) const {
    const auto parts = busy_.set().parts();
    const auto next = std::lower_bound(parts.begin(), parts.end(), span.end,
                                       [](const Interval& part, std::int64_t t) { return part.begin < t; });
    if (next == parts.begin()) return span;
    return {std::max(span.begin, (next - 1)->end), span.end};
  }

 private:
  timeline::MeasuredSet busy_;
};

/// The copy that a waiting call waits for: the copy it launched, else the last copy that its op launched.
class CopyOfCall {
 public:
  CopyOfCall(const trace::Trace& trace, const Rank& rank)
      : e_(rank.events),
        bytes_(trace, rank, "bytes"),
        of_call_(e_.size(), kNoRow),
        of_op_(e_.size(), kNoRow) {
    for (Row row = 0; row < e_.size(); ++row) {
      if (e_.kind[row] != Kind::memcpy) continue;
      if (e_.launch[row] != kNoRow) of_call_[e_.launch[row]] = row;
      if (e_.op[row] != kNoRow) of_op_[e_.op[row]] = row;
    }
  }
  Row of(Row call) const {
    if (of_call_[call] != kNoRow || e_.op[call] == kNoRow) return of_call_[call];
    return of_op_[e_.op[call]];
  }
  std::int64_t bytes(Row copy) const { return bytes_.integer_or(copy, 0); }

 private:
  const EventTable& e_;
  const trace::ArgReader bytes_;
  Column<Row> of_call_, of_op_;
};

struct Group {
  std::int64_t count = 0, total = 0, busy = 0, longest = 0, bytes = 0;
  Column<Interval> refill, cost;
};

using GroupKey = std::tuple<std::string_view, std::string_view, std::string_view,
                            std::string_view>;  // call, op, copy, source

std::map<GroupKey, Group> grouped(const trace::Trace& trace, const Rank& rank, const StepChoice& choice,
                                  const DeviceAround& device) {
  const EventTable& e = rank.events;
  derive::SourceLines lines(trace, rank);
  const CopyOfCall copies(trace, rank);
  std::map<GroupKey, Group> groups;
  const std::vector<Row> calls = blocking_calls(trace, rank);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Row call = calls[i];
    if (!choice.includes(rank, call)) continue;
    const Row op = e.op[call];
    const Row copy = copies.of(call);
    Group& group = groups[{trace.name(rank, call), op == kNoRow ? "" : trace.name(rank, op),
                           copy == kNoRow ? "" : trace.name(rank, copy), lines.of(call)}];
    if (copy != kNoRow) report::add_to(group.bytes, copies.bytes(copy));
    const Interval span{e.start[call], e.end[call]};
    ++group.count;
    report::add_to(group.total, span.length());
    report::add_to(group.busy, device.busy_in(span));
    group.longest = std::max(group.longest, span.length());
    const auto later = std::partition_point(calls.begin() + static_cast<std::ptrdiff_t>(i), calls.end(),
                                            [&](Row other) { return e.start[other] < span.end; });
    group.refill.push_back(device.refill(
        span.end, later == calls.end() ? std::numeric_limits<std::int64_t>::max() : e.start[*later]));
    group.cost.push_back(device.drained_in(span));
  }
  return groups;
}

void add_rank(std::vector<Synchronization>& calls, const Derived& derived, const Rank& rank) {
  const trace::Trace& trace = derived.trace();
  const DeviceAround device(derived.busy(rank));
  const IntervalSet loading = derive::loading_time(trace, rank);
  const auto first = static_cast<std::ptrdiff_t>(calls.size());
  for (const auto& [key, group] : grouped(trace, rank, derived.choice(), device)) {
    const auto& [call, op, copy, source] = key;
    Synchronization& of = calls.emplace_back();
    of.rank = rank.rank;
    of.call = call;
    of.op = op;
    of.copy = copy;
    of.direction = derive::copy_direction(copy);
    of.source = source;
    of.count = group.count;
    of.total = group.total;
    of.longest = group.longest;
    if (!copy.empty()) of.bytes = group.bytes;
    const IntervalSet refill = subtract(IntervalSet::of(group.refill), loading);
    of.cost = unite(IntervalSet::of(group.cost), refill).length();
    of.refill = refill.length();
    of.busy = group.busy;
  }
  std::stable_sort(calls.begin() + first, calls.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.cost, a.total) > std::tuple(b.cost, b.total);
  });
  if (device.known()) return;
  for (auto call = calls.begin() + first; call != calls.end(); ++call)
    call->cost = call->refill = call->busy = report::kNoInt;
}

const report::Sheet<Synchronization> kSynchronizationSheet{
    "Calls that wait for the device",
    Shape::table,
    {report::rank_field<Synchronization>(&Synchronization::rank),
     {"call", &Synchronization::call},
     {"op", &Synchronization::op},
     {"copy", &Synchronization::copy, Role::detail},
     {"source", &Synchronization::source},
     {"count", &Synchronization::count, Unit::count},
     {"cost", &Synchronization::cost, Unit::ns},
     {"refill", &Synchronization::refill, Unit::ns},
     {"total", &Synchronization::total, Unit::ns},
     {"busy", &Synchronization::busy, Unit::ns},
     {"max", &Synchronization::longest, Unit::ns},
     {"bytes", &Synchronization::bytes, Unit::bytes, Role::detail}}};

bool records_calls(const Rank& rank) {
  return std::any_of(rank.events.kind.begin(), rank.events.kind.end(),
                     [](Kind kind) { return kind == Kind::runtime; });
}

}  // namespace

Synchronizations synchronizations_of(const Derived& derived) {
  Synchronizations of;
  bool recorded = false;
  for (const Rank& rank : derived.trace().ranks) {
    recorded |= records_calls(rank);
    add_rank(of.calls, derived, rank);
  }
  if (!recorded)
    of.notes.emplace_back(
        "No runtime calls are recorded. Record with ProfilerActivity.CUDA (or XPU, MTIA …) and CPU.");
  else if (!of.calls.empty() && std::all_of(of.calls.begin(), of.calls.end(),
                                            [](const Synchronization& s) { return s.source.empty(); }))
    of.notes.emplace_back("No source lines are recorded: record with with_stack=True to see them.");
  return of;
}

constinit const About synchronizations_about = {};

report::Report synchronizations(const Derived& derived, const report::Params&) {
  Synchronizations of = synchronizations_of(derived);
  return {"synchronizations",
          {tabulate(kSynchronizationSheet, of.calls, derived.trace().several())},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
