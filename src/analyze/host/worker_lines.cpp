#include "analyze/host/worker_lines.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "analyze/host/path_sum.h"
#include "derive/places/own_frames.h"
#include "derive/places/stack_pieces.h"
#include "derive/thread_role.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Unit;
using timeline::Interval;
using timeline::IntervalSet;
using timeline::MeasuredSet;
using timeline::Time;
using trace::kNoRow;
using trace::Row;
using trace::StringId;

/// A frame of Python's library in which a thread waits for another one, a process or a socket.
bool is_waiting(std::string_view frame) {
  for (const std::string_view file :
       {"threading.py(", "queue.py(", "selectors.py(", "socket.py(", "ssl.py(", "subprocess.py(",
        "multiprocessing/pool.py(", "multiprocessing/queues.py(", "multiprocessing/connection.py(",
        "concurrent/futures/_base.py(", "asyncio/base_events.py("})
    if (has(frame, file)) return true;
  return false;
}

/// Time by the program's own lines.
class OwnTimes {
 public:
  OwnTimes(const trace::Trace& trace, const trace::Rank& rank)
      : trace_(trace), rank_(rank), own_(trace, rank) {}

  /// Adds `time` to the lines on the piece's stack.
  void add(const derive::StackPiece& piece, Time time);
  /// The kMaxLines lines with most `self`, most first; shares of `all`.
  void add_to(std::vector<WorkerLine>& lines, Time all);

 private:
  static constexpr std::size_t kMaxLines = 50;

  struct Sum {
    Time self = 0, total = 0;
    std::map<StringId, Time> callees;
  };

  const trace::Trace& trace_;
  const trace::Rank& rank_;
  derive::OwnFrames own_;
  std::map<StringId, Sum> sums_;
};

void OwnTimes::add(const derive::StackPiece& piece, Time time) {
  const trace::EventTable& e = rank_.events;
  std::set<StringId> seen;
  std::set<StringId> callees;
  bool inside = true;
  for (Row row = piece.frame; row != kNoRow; row = e.parent[row]) {
    if (e.kind[row] != trace::Kind::python) continue;
    if (is_worker_loop(trace_.text(e.name[row]))) break;
    if (!own_(e.name[row])) {
      if (inside) callees.insert(e.name[row]);
      continue;
    }
    Sum& sum = sums_[e.name[row]];
    if (inside) {
      sum.self += time;
      for (const StringId callee : callees) sum.callees[callee] += time;
    }
    inside = false;
    if (seen.insert(e.name[row]).second) sum.total += time;
  }
}

void OwnTimes::add_to(std::vector<WorkerLine>& lines, Time all) {
  const auto first = static_cast<std::ptrdiff_t>(lines.size());
  for (const auto& [line, sum] : sums_)
    lines.push_back({rank_.rank, std::string(trace_.text(line)), std::string(own_.text(trace_.text(line))),
                     report::ratio(sum.self, all), sum.self, sum.total,
                     std::string(trace_.text(innermost_callee(sum.callees, sum.self)))});
  std::sort(lines.begin() + first, lines.end(), [](const WorkerLine& a, const WorkerLine& b) {
    return std::tuple(-a.self, -a.total, std::string_view(a.line)) <
           std::tuple(-b.self, -b.total, std::string_view(b.line));
  });
  if (lines.size() > static_cast<std::size_t>(first) + kMaxLines)
    lines.resize(static_cast<std::size_t>(first) + kMaxLines);
}

using Fetches = std::map<trace::TrackId, Column<Interval>>;

/// Fetches of batches by the thread of the worker.
Fetches fetches_of(const trace::Trace& trace, const trace::Rank& rank, trace::TrackId main) {
  const trace::EventTable& e = rank.events;
  Fetches fetches;
  for (const Row row : rank.host_rows())
    if (e.kind[row] == trace::Kind::annotation && trace.text(e.name[row]) == "DataLoader.fetch" &&
        rank.tracks[e.track[row]].pid != rank.tracks[main].pid)
      fetches[e.track[row]].push_back({e.start[row], e.end[row]});
  return fetches;
}

/// Adds what a rank's workers did; nothing if none is recorded.
void add_fetching(std::vector<Fetching>& all, const trace::Trace& trace, const trace::Rank& rank,
                  trace::TrackId main, Interval window) {
  Fetching of{rank.rank};
  for (auto& [thread, spans] : fetches_of(trace, rank, main)) {
    for (const Interval& fetch : spans) of.batches += fetch.end > window.begin && fetch.end <= window.end;
    const Time time = MeasuredSet(IntervalSet::of(std::move(spans))).length_in(window);
    of.workers += time > 0 ? 1 : 0;
    of.fetching += time;
  }
  if (of.workers == 0) return;
  // The counter is written at the end of a fetch.
  const trace::StringId counted = trace.strings.find("DataLoader.fetch CPU ns");
  const trace::ArgReader value(trace, rank, "value");
  for (const Row row : rank.host_rows()) {
    if (rank.events.kind[row] != trace::Kind::counter || rank.events.name[row] != counted) continue;
    const Time end = rank.events.start[row], busy = std::max<Time>(0, value.integer_or(row, 0));
    const Interval span{std::max(end - busy, window.begin), std::min(end, window.end)};
    of.cpu = std::max<Time>(0, of.cpu == report::kNoInt ? 0 : of.cpu) + std::max<Time>(0, span.length());
  }
  all.push_back(of);
}

std::vector<report::Field<WorkerLine>> line_fields() {
  return {report::rank_field<WorkerLine>(&WorkerLine::rank),
          {"line", &WorkerLine::line},
          {"text", &WorkerLine::text, Role::detail},
          {"share", &WorkerLine::share, Unit::share, Role::share},
          {"self", &WorkerLine::self, Unit::ns},
          {"total", &WorkerLine::total, Unit::ns},
          {"calls", &WorkerLine::calls, Role::detail}};
}

void add_workers(std::vector<WorkerLine>& lines, const trace::Trace& trace, const trace::Rank& rank,
                 trace::TrackId main, Interval window) {
  OwnTimes times(trace, rank);
  Time fetching = 0, told = 0;  // told: by samples, which may come to more than what they tell of
  for (auto& [thread, spans] : fetches_of(trace, rank, main)) {
    const MeasuredSet fetch(IntervalSet::of(std::move(spans)));
    fetching += fetch.length_in(window);
    for (const derive::StackPiece& piece : derive::stack_pieces(trace, rank, thread, window)) {
      const Time time = derive::time_in(piece, fetch);
      if (time == 0) continue;
      told += time;
      times.add(piece, time);
    }
  }
  times.add_to(lines, std::max(fetching, told));
}

void add_threads(std::vector<WorkerLine>& lines, const trace::Trace& trace, const trace::Rank& rank,
                 trace::TrackId main, Interval window) {
  const auto of_main = derive::samples_of(trace, rank, main);
  const std::vector<bool> is_sampled = derive::sampled_tracks(trace, rank);
  const bool sampled = std::find(is_sampled.begin(), is_sampled.end(), true) != is_sampled.end();
  OwnTimes times(trace, rank);
  for (trace::TrackId thread = 0; thread < rank.tracks.size(); ++thread) {
    const trace::Track& track = rank.tracks[thread];
    if (track.side != trace::Track::Side::host || track.pid != rank.tracks[main].pid || thread == main ||
        thread == of_main || is_sampled[thread] != sampled)
      continue;
    for (const derive::StackPiece& piece : derive::calls_on(trace, rank, thread, window))
      if (!is_waiting(trace.text(rank.events.name[piece.frame]))) times.add(piece, piece.span.length());
  }
  times.add_to(lines, window.length());
}

}  // namespace

const report::Sheet<Fetching> kFetchingSheet{"Fetching by workers",
                                             report::Shape::table,
                                             {report::rank_field<Fetching>(&Fetching::rank),
                                              {"workers", &Fetching::workers, Unit::count},
                                              {"batches", &Fetching::batches, Unit::count},
                                              {"fetching", &Fetching::fetching, Unit::ns},
                                              {"cpu", &Fetching::cpu, Unit::ns}}};

const report::Sheet<WorkerLine> kWorkerLineSheet{"Lines of workers", report::Shape::table, line_fields()};
const report::Sheet<WorkerLine> kThreadLineSheet{"Lines of other threads", report::Shape::table,
                                                 line_fields()};

bool waits(std::string_view calls, std::string_view text) {
  if (!calls.empty()) return is_waiting(calls);
  for (const std::string_view part :
       {"sleep(", ".wait(", ".result(", ".recv(", ".accept(", ".get()", ".join()", ".acquire("})
    if (has(text, part)) return true;
  return false;
}

void add_elsewhere(Elsewhere& of, const trace::Trace& trace, const trace::Rank& rank, trace::TrackId main,
                   Interval window) {
  add_fetching(of.fetching, trace, rank, main, window);
  add_workers(of.workers, trace, rank, main, window);
  add_threads(of.threads, trace, rank, main, window);
}

}  // namespace stepscope::analyze
