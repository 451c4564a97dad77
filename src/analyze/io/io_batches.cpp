// Which I/O made a batch late: from the wait along the flow arrow to the worker that made it.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "analyze/io/file_groups.h"
#include "analyze/io/handling.h"
#include "analyze/io/hdf5_reading.h"
#include "analyze/io/io.h"
#include "analyze/io/placed_reads.h"
#include "derive/idle/loading.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::IoCall;
using report::kNoInt;
using timeline::Interval;
using timeline::IntervalSet;
using timeline::MeasuredSet;
using trace::Row;

/// Calls by process, in order of begin.
class ByProcess {
 public:
  ByProcess(const trace::Rank& rank, const RankIo& io) : rank_(rank) {
    for (const auto* of : {&io.calls, &io.outside})  // a batch may be fetched before the window begins
      for (const IoCall& call : *of) calls_[rank.tracks[rank.events.track[call.row]].pid].push_back(&call);
    for (auto& [pid, calls] : calls_)
      std::stable_sort(calls.begin(), calls.end(), [&](const IoCall* a, const IoCall* b) {
        return rank.events.start[a->row] < rank.events.start[b->row];
      });
  }

  /// Calls use(call) for each call of the process that begins in the span.
  template <class Use>
  void in(const std::string& pid, Interval span, Use use) const {
    const auto found = calls_.find(pid);
    if (found == calls_.end()) return;
    const auto& calls = found->second;
    auto at = std::lower_bound(
        calls.begin(), calls.end(), span.begin,
        [&](const IoCall* call, timeline::Time time) { return rank_.events.start[call->row] < time; });
    for (; at != calls.end() && rank_.events.start[(*at)->row] < span.end; ++at) use(**at);
  }

 private:
  const trace::Rank& rank_;
  std::unordered_map<std::string, std::vector<const IoCall*>> calls_;
};

void count(std::int64_t& calls, std::int64_t& time, std::int64_t length) {
  ++calls;
  report::add_to(time, length);
}

/// Sums over fetches.
struct FetchSum {
  FetchIo all{};
  struct Group {
    std::int64_t time = 0, asked = 0, handled = 0, locked = 0;
    PlacedReads read;
  };
  FileGroups<Group> groups;

  void add(const trace::Trace& trace, const IoCall& call, std::int64_t length) {
    using derive::IoKind;
    ++all.calls;
    report::add_to(all.time, length);
    if (call.kind == IoKind::open || call.kind == IoKind::close) {
      all.opens += call.kind == IoKind::open;
      report::add_to(all.opening_time, length);
    } else if (derive::is_metadata(call.kind)) {
      ++all.asks;
      report::add_to(all.asking_time, length);
      if (call.kind == IoKind::change) count(all.changes, all.change_time, length);
    } else if (call.kind == IoKind::lock) {
      count(all.locks, all.lock_time, length);
    } else if (call.kind == IoKind::sync) {
      count(all.syncs, all.sync_time, length);
    } else if (call.kind == IoKind::read) {
      ++all.reads;
      report::add_to(all.read, call.bytes);
      if (is_from_storage(length, call.bytes)) {
        ++all.stored;
        report::add_to(all.stored_time, length);
      }
    }
    if (call.file == trace::kEmptyString) return;
    Group& group = groups.of(trace, call.file).sum;
    report::add_to(group.time, length);
    group.asked += call.kind == IoKind::open;
    if (call.kind == IoKind::lock) report::add_to(group.locked, length);
    group.read.add(call);
  }

  void name_read_again() {
    std::int64_t most = 0;
    for (const auto& [pattern, named] : groups.by_pattern()) {
      const Group& group = named.sum;
      const std::int64_t distinct = group.read.distinct();
      if (group.read.bytes() - distinct <= most) continue;
      most = group.read.bytes() - distinct;
      all.again_group = named.name.text();
      all.again_files = group.read.files();
      all.again_opens = group.asked;
      all.again_read = group.read.bytes();
      all.again_distinct = distinct;
      all.again_handled = group.handled;
    }
  }
};

void add_io_in(LateBatch& batch, FetchSum& sum, const trace::Trace& trace, const trace::Rank& rank,
               const RankIo& io, const ByProcess& calls, Handling& handling, const std::string& pid,
               Interval load) {
  Column<Interval> spans;
  std::map<std::pair<trace::TrackId, trace::StringId>, std::vector<const IoCall*>> by_file;
  std::map<trace::StringId, std::int64_t> files;
  std::map<trace::TrackId, std::int64_t> threads;  // time in calls
  calls.in(pid, load, [&](const IoCall& call) {
    spans.push_back(span_of(rank, call));
    report::add_to(threads[rank.events.track[call.row]], rank.events.duration(call.row));
    sum.add(trace, call, rank.events.duration(call.row));
    if (!io.library_calls.empty() && derive::is_in_call_of(derive::IoLibrary::hdf5, trace, rank, call.row))
      report::add_to(sum.all.hdf5_time, rank.events.duration(call.row));
    ++batch.calls;
    batch.metadata += derive::is_metadata(call.kind);
    if (call.kind == derive::IoKind::read) report::add_to(batch.read, call.bytes);
    if (call.file == trace::kEmptyString) return;
    report::add_to(files[call.file], rank.events.duration(call.row));
    by_file[{rank.events.track[call.row], call.file}].push_back(&call);
  });
  for (const auto& [key, on_file] : by_file)
    for (Handled& handled : handling.of(on_file))
      report::add_to(sum.groups.of(trace, key.second).sum.handled,
                     IntervalSet::of(std::move(handled.spans)).length_in(load));
  batch.io = IntervalSet::of(std::move(spans)).length_in(load);
  batch.files = std::ssize(files);
  std::int64_t time = 0;
  for (const auto& [thread, length] : threads) report::add_to(time, length);
  const auto busy = std::count_if(threads.begin(), threads.end(),
                                  [&](const auto& thread) { return thread.second >= time / 10; });
  sum.all.threads = std::max<std::int64_t>(sum.all.threads, busy);
  const auto slowest = std::max_element(files.begin(), files.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  if (slowest == files.end()) return;
  batch.slowest = trace.text(slowest->first);
  batch.slowest_time = slowest->second;
}

void add_workers(FetchIo& all, std::span<const LateBatch> batches) {
  std::vector<std::int64_t> loads;
  std::set<std::string_view> workers;
  for (const LateBatch& batch : batches)
    if (!batch.worker.empty()) {
      loads.push_back(batch.load);
      workers.insert(batch.worker);
    }
  if (loads.empty()) return;
  all.workers = std::ssize(workers);
  all.median_load = report::quantile(loads, 0.5);
  all.long_load = report::quantile(loads, 0.9);
}

}  // namespace

void add_late_batches(Io& of, const Derived& derived, const trace::Rank& rank, const RankIo& io) {
  const trace::Trace& trace = derived.trace();
  const trace::EventTable& e = rank.events;
  const std::vector<Row> waits = derive::loading_rows(trace, rank);
  if (waits.empty()) return;
  const std::map<Row, Row> fetches = derive::batch_fetches(trace, rank, waits);
  const ByProcess calls(rank, io);
  Hdf5Reading reading(trace, rank, io);
  Handling handling(rank);
  const MeasuredSet busy(io.has_device ? io.compute : IntervalSet{});
  const std::int64_t origin = origin_of(rank);
  const auto first = std::ssize(of.batches);
  FetchSum sum;
  for (const Row row : waits) {
    if (!derived.choice().includes(rank, row)) continue;
    const Interval span{e.start[row], e.end[row]};
    LateBatch batch{.rank = rank.rank,
                    .step = step_number(rank, row),
                    .start = span.begin - origin,
                    .wait = span.length(),
                    .exposed = io.has_device ? span.length() - busy.length_in(span) : kNoInt};
    const auto found = fetches.find(row);
    const Row load = found == fetches.end() ? row : found->second;
    const trace::Track& maker = rank.tracks[e.track[load]];
    const bool is_own = found == fetches.end();
    if (!is_own) {
      batch.worker = process_of(maker);
      batch.load = e.duration(load);
      sum.all.ready += e.end[load] <= span.begin;
    }
    add_io_in(batch, sum, trace, rank, io, calls, handling, maker.pid, {e.start[load], e.end[load]});
    if (is_own && batch.calls > 0) batch.load = span.length();
    reading.add_to(sum.all, maker.pid, {e.start[load], e.end[load]});
    if (batch.load != kNoInt) {
      ++sum.all.batches;
      report::add_to(sum.all.load, batch.load);
      report::add_to(sum.all.io, batch.io);
    }
    of.batches.push_back(std::move(batch));
  }
  const auto& groups = sum.groups.by_pattern();
  const auto with_most = [&](std::int64_t FetchSum::Group::* time) {
    return std::ranges::max_element(groups, {}, [&](const auto& group) { return group.second.sum.*time; });
  };
  const auto most = with_most(&FetchSum::Group::time);
  if (sum.all.locks > 0)
    if (const auto locked = with_most(&FetchSum::Group::locked); locked != groups.end())
      sum.all.locked = locked->second.name.text();
  if (most != groups.end()) {
    sum.all.group = most->second.name.text();
    sum.all.group_files = report::mean(most->second.sum.asked, std::max<std::int64_t>(1, sum.all.batches));
  }
  sum.name_read_again();
  reading.name(sum.all);
  sum.all.rank = rank.rank;
  add_workers(sum.all, std::span(of.batches).subspan(static_cast<std::size_t>(first)));
  if (sum.all.batches > 0) of.fetching.push_back(std::move(sum.all));
  std::stable_sort(of.batches.begin() + first, of.batches.end(),
                   [](const LateBatch& a, const LateBatch& b) { return a.wait > b.wait; });
}

}  // namespace stepscope::analyze
