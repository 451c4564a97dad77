// Sums over the calls of a rank: in all, by kind, process, size, length, caller and time.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <tuple>

#include "analyze/io/file_groups.h"
#include "analyze/io/io.h"
#include "derive/kernel_class.h"
#include "derive/nearest_above.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::IoCall;
using derive::IoKind;
using report::add_to;
using report::kNoInt;
using timeline::Interval;
using timeline::IntervalSet;
using timeline::MeasuredSet;
using trace::kNoRow;
using trace::Row;

constexpr std::size_t kMoments = 200;

bool moves(const IoCall& call) { return call.kind == IoKind::read || call.kind == IoKind::write; }

template <class Take>
IntervalSet covered(const trace::Rank& rank, const RankIo& io, Take take) {
  Column<Interval> spans;
  for (const IoCall& call : io.calls)
    if (take(call)) spans.push_back(span_of(rank, call));
  return IntervalSet::of(std::move(spans));
}

void add_bytes(const IoCall& call, std::int64_t& read, std::int64_t& written) {
  if (call.kind == IoKind::read) add_to(read, call.bytes);
  if (call.kind == IoKind::write || call.to != trace::kEmptyString) add_to(written, call.bytes);
}

void add_processes(Io& of, const trace::Rank& rank, const RankIo& io) {
  struct Sum {
    std::set<trace::TrackId> threads;
    std::set<trace::StringId> files;
    std::int64_t calls = 0, read = 0, written = 0;
    std::string process;
    Column<Interval> spans;
  };
  std::map<std::string, Sum> sums;
  for (const IoCall& call : io.calls) {
    const trace::TrackId track = rank.events.track[call.row];
    Sum& sum = sums[rank.tracks[track].pid];
    if (sum.threads.insert(track).second && sum.process.empty()) sum.process = process_of(rank.tracks[track]);
    sum.files.insert(call.file);
    if (call.to != trace::kEmptyString) sum.files.insert(call.to);
    ++sum.calls;
    add_bytes(call, sum.read, sum.written);
    sum.spans.push_back(span_of(rank, call));
  }
  const auto first = std::ssize(of.processes);
  for (auto& [pid, sum] : sums) {
    const std::int64_t time = IntervalSet::of(std::move(sum.spans)).length_in(io.window);
    of.processes.push_back({rank.rank, sum.process, std::ssize(sum.threads), sum.calls, std::ssize(sum.files),
                            sum.read, sum.written, time, report::ratio(time, io.window.length())});
  }
  std::stable_sort(of.processes.begin() + first, of.processes.end(),
                   [](const IoProcess& a, const IoProcess& b) { return a.time > b.time; });
}

void add_moments(Io& of, const trace::Rank& rank, const RankIo& io, const IntervalSet& any) {
  const std::int64_t window = io.window.length();
  if (window <= 0) return;
  const std::size_t bins = std::min<std::size_t>(kMoments, static_cast<std::size_t>(window));
  const std::vector<double> busy = timeline::binned_share(any, io.window, bins);
  const auto first = static_cast<std::size_t>(std::ssize(of.moments));
  const std::int64_t origin = origin_of(rank);
  const auto edge = [&](std::size_t bin) {
    return static_cast<std::int64_t>(static_cast<double>(window) * static_cast<double>(bin) /
                                     static_cast<double>(bins));
  };
  for (std::size_t bin = 0; bin < bins; ++bin)
    of.moments.push_back(
        {rank.rank, io.window.begin - origin + edge(bin), edge(bin + 1) - edge(bin), 0, 0, 0, busy[bin]});
  const auto at = [&](std::int64_t time) -> IoMoment* {
    if (time < io.window.begin || time > io.window.end) return nullptr;
    const auto bin = static_cast<std::size_t>(static_cast<double>(time - io.window.begin) /
                                              static_cast<double>(window) * static_cast<double>(bins));
    return &of.moments[first + std::min(bin, bins - 1)];
  };
  for (const IoCall& call : io.calls) {
    const Interval span = span_of(rank, call);
    if (IoMoment* begins = at(span.begin)) ++begins->calls;
    if (IoMoment* ends = at(span.end)) add_bytes(call, ends->read, ends->written);
  }
}

/// What happened before the window: a program's start.
void add_earlier(IoOverlap& out, const trace::Trace& trace, const trace::Rank& rank, const RankIo& io) {
  Column<Interval> spans;
  FileGroups<std::int64_t> groups;  // ns
  for (const IoCall& call : io.outside) {
    const Interval span = span_of(rank, call);
    if (span.begin >= io.window.begin) continue;
    ++out.earlier_calls;
    spans.push_back(span);
    if (call.file != trace::kEmptyString) add_to(groups.of(trace, call.file).sum, span.length());
  }
  out.earlier_io = IntervalSet::of(std::move(spans)).within({INT64_MIN, io.window.begin}).length();
  const auto& all = groups.by_pattern();
  const auto most = std::ranges::max_element(all, {}, [](const auto& one) { return one.second.sum; });
  if (most != all.end()) out.earlier_group = most->second.name.text();
}

}  // namespace

void add_io_overlap(Io& of, const trace::Trace& trace, const trace::Rank& rank, const RankIo& io) {
  IoOverlap out{.rank = rank.rank, .calls = std::ssize(io.calls), .window = io.window.length()};
  std::set<std::string> processes;
  std::set<trace::StringId> files;
  for (const IoCall& call : io.calls) {
    processes.insert(rank.tracks[rank.events.track[call.row]].pid);
    for (const trace::StringId file : {call.file, call.to})
      if (file != trace::kEmptyString) files.insert(file);
    add_bytes(call, out.read, out.written);
    const std::int64_t length = rank.events.duration(call.row);
    if (call.kind == IoKind::read && is_from_storage(length, call.bytes)) add_to(out.stored_time, length);
  }
  out.recorded_calls = out.calls + std::ssize(io.outside);
  out.recorded_read = out.read;
  out.recorded_written = out.written;
  for (const IoCall& call : io.outside) add_bytes(call, out.recorded_read, out.recorded_written);
  add_earlier(out, trace, rank, io);
  out.processes = std::ssize(processes);
  out.files = std::ssize(files);
  const IntervalSet any = covered(rank, io, [](const IoCall&) { return true; }).within(io.window);
  const IntervalSet main = covered(rank, io, [&](const IoCall& call) {
                             return rank.tracks[rank.events.track[call.row]].pid == io.main_process;
                           }).within(io.window);
  out.io = any.length();
  out.main_io = main.length();
  if (io.has_compute) {
    const IntervalSet compute = io.compute.within(io.window);
    out.compute = compute.length();
    out.exposed_io = subtract(any, compute).length();
    out.both = out.io - out.exposed_io;
    out.exposed_main = subtract(main, compute).length();
  }
  of.overlap.push_back(out);
  add_processes(of, rank, io);
  add_moments(of, rank, io, any);
}

void add_io_kinds(Io& of, const trace::Rank& rank, const RankIo& io) {
  struct Sum {
    std::int64_t failed = 0, time = 0, bytes = 0;
    std::vector<std::int64_t> lengths;
  };
  std::array<Sum, derive::kIoKinds> sums;
  for (const IoCall& call : io.calls) {
    Sum& sum = sums[static_cast<std::size_t>(call.kind)];
    const std::int64_t length = rank.events.duration(call.row);
    sum.failed += call.failed;
    add_to(sum.time, length);
    add_to(sum.bytes, call.bytes);
    sum.lengths.push_back(length);
  }
  const auto first = std::ssize(of.kinds);
  for (std::size_t kind = 0; kind < sums.size(); ++kind) {
    Sum& sum = sums[kind];
    if (sum.lengths.empty()) continue;
    const std::int64_t longest = *std::ranges::max_element(sum.lengths);
    of.kinds.push_back({rank.rank, static_cast<IoKind>(kind), std::ssize(sum.lengths), sum.failed, sum.time,
                        sum.bytes, report::quantile(sum.lengths, 0.5), report::quantile(sum.lengths, 0.95),
                        longest});
  }
  std::stable_sort(of.kinds.begin() + first, of.kinds.end(),
                   [](const IoOfKind& a, const IoOfKind& b) { return a.time > b.time; });
}

void add_io_sizes(Io& of, const trace::Rank& rank, const RankIo& io) {
  constexpr std::int64_t kFirst = 4096, kLast = std::int64_t{1} << 32;  // classes of a factor of 4
  std::map<std::pair<bool, std::int64_t>, IoSize> sizes;
  std::map<std::int64_t, IoLatency> lengths;
  for (const IoCall& call : io.calls) {
    if (!moves(call) || call.failed) continue;
    std::int64_t least = 0, below = kFirst;
    for (; call.bytes >= below && below < kLast; below *= 4) least = below;
    if (call.bytes >= kLast) least = kLast, below = kNoInt;
    const bool writes = call.kind == IoKind::write;
    const std::int64_t length = rank.events.duration(call.row);
    IoSize& size =
        sizes.try_emplace({writes, least}, IoSize{rank.rank, writes, least, below, 0, 0, 0}).first->second;
    ++size.calls;
    add_to(size.bytes, call.bytes);
    add_to(size.time, length);
    const auto from = static_cast<std::int64_t>(
        std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, length))));
    IoLatency& latency = lengths.try_emplace(from, IoLatency{rank.rank, from, 0, 0, 0}).first->second;
    ++(writes ? latency.writes : latency.reads);
    add_to(latency.time, length);
  }
  for (const auto& [key, size] : sizes) of.sizes.push_back(size);
  for (const auto& [from, latency] : lengths) of.latencies.push_back(latency);
}

void add_io_callers(Io& of, const trace::Trace& trace, const trace::Rank& rank, const RankIo& io) {
  const trace::EventTable& e = rank.events;
  struct Sum {
    std::int64_t calls = 0, time = 0, bytes = 0;
  };
  /// A system call makes none: one around another is of another thread, or both have rounded times.
  const auto may_call = [&](Row row) {
    return row != kNoRow && trace.text(e.name[row]) != "read" && trace.text(e.name[row]) != "write";
  };
  std::map<std::pair<std::string_view, std::string_view>, Sum> sums;  // by caller and layer
  derive::NearestAbove around(rank, [&](Row row) { return e.kind[row] != trace::Kind::io; });
  for (const IoCall& call : io.calls) {
    Row row = around(e.parent[call.row]);
    if (row == kNoRow && may_call(e.parent[call.row])) row = e.parent[call.row];
    std::string_view caller, layer;
    if (row != kNoRow) {
      caller = trace.text(e.name[row]);
      if (derive::is_step_mark(caller)) caller = "ProfilerStep";  // each has a number
      layer = e.kind[row] == trace::Kind::op                                             ? "operator"
              : e.kind[row] == trace::Kind::python                                       ? "Python"
              : e.kind[row] == trace::Kind::io || e.kind[row] == trace::Kind::io_library ? "I/O library"
                                                                                         : "range";
    }
    Sum& sum = sums[{caller, layer}];
    ++sum.calls;
    add_to(sum.time, e.duration(call.row));
    add_to(sum.bytes, call.bytes);
  }
  const auto first = std::ssize(of.callers);
  for (const auto& [key, sum] : sums)
    of.callers.push_back({rank.rank, std::string(key.first), key.second, sum.calls, sum.time, sum.bytes});
  std::stable_sort(of.callers.begin() + first, of.callers.end(),
                   [](const IoCaller& a, const IoCaller& b) { return a.time > b.time; });
}

}  // namespace stepscope::analyze
