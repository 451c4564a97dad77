// Files that hold up the steps: the main thread handles them itself, or waits for a thread that does.
#include <algorithm>
#include <map>
#include <optional>

#include "analyze/io/calling_lines.h"
#include "analyze/io/file_groups.h"
#include "analyze/io/handling.h"
#include "analyze/io/io.h"
#include "analyze/io/placed_reads.h"
#include "derive/idle/loading.h"
#include "derive/thread_role.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::IoCall;
using derive::IoKind;
using report::add_to;
using timeline::Interval;
using timeline::IntervalSet;
using trace::TrackId;

/// Calls of one thread on one group of files.
struct OnThread {
  Column<Interval> calls, handled;
};

struct HoldingGroup {
  HoldingFiles of{};
  PlacedReads read;
  std::map<TrackId, OnThread> threads;

  void add(const trace::Rank& rank, const IoCall& call) {
    ++of.calls;
    of.opens += call.kind == IoKind::open && !call.failed;
    of.asks += derive::is_metadata(call.kind) && call.kind != IoKind::open && call.kind != IoKind::close;
    of.syncs += call.kind == IoKind::sync;
    of.reads += call.kind == IoKind::read;
    of.writes += call.kind == IoKind::write;
    if (call.kind == IoKind::write) add_to(of.written, call.bytes);
    threads[rank.events.track[call.row]].calls.push_back(span_of(rank, call));
    if (call.kind == IoKind::read) add_to(of.read, call.bytes);
    read.add(call);
  }
};

class Holding {
 public:
  Holding(const trace::Trace& trace, const trace::Rank& rank, const RankIo& io)
      : trace_(trace),
        rank_(rank),
        io_(io),
        lines_(trace, rank, io.window),
        main_(main_of(trace, rank)),
        elsewhere_(unite(derive::loading_time(trace, rank), io.compute)) {
    if (main_) waits_ = lines_.waiting(*main_);
  }

  std::vector<HoldingFiles> all() {
    std::vector<HoldingFiles> out;
    if (!main_) return out;
    group_calls();
    for (auto& [pattern, group] : groups_.by_pattern()) {
      HoldingFiles& of = group.sum.of;
      of.group = group.name.text();
      of.files = group.files;
      finish(group.sum);
      if (of.time > 0 || of.line_time > 0) out.push_back(std::move(of));
    }
    std::stable_sort(out.begin(), out.end(), [](const HoldingFiles& a, const HoldingFiles& b) {
      return std::max(a.time, a.line_time) > std::max(b.time, b.line_time);
    });
    return out;
  }

 private:
  static std::optional<TrackId> main_of(const trace::Trace& trace, const trace::Rank& rank) {
    const auto roles = derive::thread_roles(trace, rank);
    const auto main = std::find(roles.begin(), roles.end(), derive::ThreadRole::main);
    if (main == roles.end()) return std::nullopt;
    return static_cast<TrackId>(main - roles.begin());
  }

  void group_calls() {
    std::map<std::pair<TrackId, trace::StringId>, std::vector<const IoCall*>> by_file;
    for (const IoCall& call : io_.calls)
      if (call.file != trace::kEmptyString &&
          rank_.tracks[rank_.events.track[call.row]].pid == io_.main_process)
        by_file[{rank_.events.track[call.row], call.file}].push_back(&call);
    Handling handling(rank_);
    for (const auto& [key, calls] : by_file) {
      const auto& [thread, file] = key;
      for (Handled& handled : handling.of(calls)) {
        if (handled.written >= kSavedBytes) continue;  // a SavedFile
        HoldingGroup& group = groups_.of(trace_, file).sum;
        for (std::size_t i = handled.first; i < handled.last; ++i) group.add(rank_, *calls[i]);
        Column<Interval>& spans = group.threads[thread].handled;
        for (const Interval& span : handled.spans) spans.push_back(span);
      }
    }
  }

  /// The part that the steps wait for, while nothing computes.
  IntervalSet held(TrackId thread, const IntervalSet& time) const {
    const IntervalSet on_the_way = thread == main_ ? time : intersect(time, waits_);
    return subtract(on_the_way.within(io_.window), elsewhere_);
  }

  void finish(HoldingGroup& group) {
    HoldingFiles& of = group.of;
    Column<Interval> of_calls, of_time, of_line;
    const auto add = [](Column<Interval>& to, const IntervalSet& set) {
      for (const Interval& part : set.parts()) to.push_back(part);
    };
    std::optional<TrackId> most;
    timeline::Time most_time = 0;
    for (auto& [thread, on] : group.threads) {
      const IntervalSet handled = IntervalSet::of(std::move(on.handled));
      const IntervalSet holding = held(thread, handled);
      if (holding.length() > most_time) {
        most_time = holding.length();
        most = thread;
      }
      add(of_calls, held(thread, IntervalSet::of(std::move(on.calls))));
      add(of_time, holding);
      const trace::StringId line = lines_.line(thread, handled);
      add(of_line, holding);
      add(of_line, held(thread, lines_.time_of(thread, line)));
      if (most == thread) of.line = lines_.text(line);
    }
    const IntervalSet with_line = IntervalSet::of(std::move(of_line));
    of.rank = rank_.rank;
    of.placed_read = group.read.bytes();
    of.distinct = group.read.distinct();
    of.io = IntervalSet::of(std::move(of_calls)).length();
    of.time = IntervalSet::of(std::move(of_time)).length();
    of.line_time = with_line.length();
    of.beside = most && most != main_;
    if (of.beside) of.waiting_line = lines_.text(lines_.line(*main_, with_line));
    for (const Interval& part : with_line.parts())
      if (part.length() > of.longest.length) of.longest = {part.begin - origin_of(rank_), part.length()};
  }

  const trace::Trace& trace_;
  const trace::Rank& rank_;
  const RankIo& io_;
  CallingLines lines_;
  const std::optional<TrackId> main_;
  const IntervalSet elsewhere_;  ///< loading of batches, and compute
  IntervalSet waits_;            ///< of the main thread
  FileGroups<HoldingGroup> groups_;
};

}  // namespace

void add_holding_files(Io& of, const trace::Trace& trace, const trace::Rank& rank, const RankIo& io) {
  for (HoldingFiles& files : Holding(trace, rank, io).all()) of.holding.push_back(std::move(files));
}

}  // namespace stepscope::analyze
