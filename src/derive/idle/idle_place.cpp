#include "derive/idle/idle_place.h"

#include <algorithm>

#include "derive/kernel_class.h"
#include "trace/asked_once.h"

namespace stepscope::derive {
namespace {

using timeline::Interval;
using timeline::Time;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::TrackId;

constexpr std::size_t kMaxThreads = 16;

/// A stretch of a piece that has no place yet.
struct Open {
  Interval span;
  std::uint32_t piece;
};

template <class IsMark>
class PlaceSweep {
 public:
  PlaceSweep(const Rank& rank, IsMark& is_mark, const UsePlace& use, Column<Open>& left)
      : rank_(rank), e_(rank.events), is_mark_(is_mark), use_(use), left_(left) {}

  /// `open`: stretches by begin. Stretches of two devices may overlap.
  void run(TrackId thread, const Column<Open>& open) {
    const trace::Track& track = rank_.tracks[thread];
    next_ = track.begin;
    end_ = track.end;
    stack_.clear();
    for (const Open& stretch : open) {
      enter(stretch.span.begin);
      place(stretch);
    }
  }

 private:
  struct Range {
    Row row, outermost;
  };
  bool counts(Row row) { return is_host_range(e_.kind[row]) && !is_mark_(e_.name[row]); }
  void push(Row row) {
    const Row around = stack_.empty() ? kNoRow : stack_.back().outermost;
    stack_.push_back({row, around == kNoRow && e_.kind[row] == Kind::annotation ? row : around});
  }
  /// Opens the ranges that began by `time`. Later ranges are left to `place`.
  void enter(Time time) {
    for (; next_ < end_ && e_.start[next_] <= time; ++next_) {
      if (!counts(next_)) continue;
      leave(e_.start[next_]);
      push(next_);
    }
    leave(time);
  }
  void leave(Time time) {
    while (!stack_.empty() && e_.end[stack_.back().row] <= time) stack_.pop_back();
  }
  /// Walks the ranges inside one stretch. Restores the stack, because the next stretch may overlap this one.
  void place(const Open& stretch) {
    kept_.assign(stack_.begin(), stack_.end());
    Time now = stretch.span.begin;
    for (Row row = next_; now < stretch.span.end; ++row) {
      while (row < end_ && !counts(row)) ++row;
      const Time to = row < end_ ? std::clamp(e_.start[row], now, stretch.span.end) : stretch.span.end;
      now = advance(stretch.piece, now, to);
      if (row >= end_ || e_.start[row] >= stretch.span.end) break;
      push(row);
    }
    stack_.swap(kept_);
  }
  Time advance(std::uint32_t piece, Time now, Time to) {
    while (now < to) {
      leave(now);
      const Time end = stack_.empty() ? to : std::min(to, e_.end[stack_.back().row]);
      if (stack_.empty())
        left_.push_back({{now, end}, piece});
      else
        use_({piece, stack_.back().row, stack_.back().outermost, end - now});
      now = end;
    }
    leave(to);
    return to;
  }

  const Rank& rank_;
  const EventTable& e_;
  IsMark& is_mark_;
  const UsePlace& use_;
  Column<Open>& left_;
  Row next_ = 0, end_ = 0;
  std::vector<Range> stack_, kept_;
};

/// Threads that launched work, most launches first; at most kMaxThreads.
std::vector<TrackId> launchers(const Rank& rank) {
  const EventTable& e = rank.events;
  std::vector<std::int64_t> launches(rank.tracks.size());
  for (Row row = 0; row < e.size(); ++row)
    if (is_device_work(e.kind[row]) && e.launch[row] != kNoRow) ++launches[e.track[e.launch[row]]];
  std::vector<TrackId> threads;
  for (TrackId t = 0; t < launches.size(); ++t)
    if (launches[t] > 0) threads.push_back(t);
  std::stable_sort(threads.begin(), threads.end(),
                   [&](TrackId a, TrackId b) { return launches[a] > launches[b]; });
  if (threads.size() > kMaxThreads) threads.resize(kMaxThreads);
  return threads;
}

void sort_by_begin(Column<Open>& open) {
  std::sort(open.begin(), open.end(), [](const Open& a, const Open& b) {
    return a.span.begin != b.span.begin ? a.span.begin < b.span.begin : a.piece < b.piece;
  });
}

}  // namespace

void for_each_idle_place(const trace::Trace& trace, const Rank& rank, const Column<IdlePiece>& pieces,
                         const UsePlace& use) {
  const EventTable& e = rank.events;
  trace::AskedOnce is_mark(trace.strings, is_step_mark);
  Column<Open> left;
  PlaceSweep sweep(rank, is_mark, use, left);
  std::vector<Column<Open>> own(rank.tracks.size());
  const std::vector<TrackId> threads = launchers(rank);
  for (std::uint32_t i = 0; i < pieces.size(); ++i) {
    const IdlePiece& piece = pieces[i];
    if (piece.cause == IdleCause::pending || piece.whole) continue;
    const Row launch = piece.ender == kNoRow ? kNoRow : e.launch[piece.ender];
    if (launch != kNoRow)
      own[e.track[launch]].push_back({piece.span, i});
    else
      left.push_back({piece.span, i});
  }
  for (TrackId thread = 0; thread < own.size(); ++thread) {
    sort_by_begin(own[thread]);
    if (!own[thread].empty()) sweep.run(thread, own[thread]);
  }
  for (const TrackId thread : threads) {
    Column<Open> open = std::move(left);
    left.clear();
    sort_by_begin(open);
    sweep.run(thread, open);
  }
  for (const Open& open : left) use({open.piece, kNoRow, kNoRow, open.span.length()});
}

void for_each_place_on(const trace::Trace& trace, const Rank& rank, TrackId thread,
                       const Column<IdlePiece>& pieces, const UsePlace& use) {
  trace::AskedOnce is_mark(trace.strings, is_step_mark);
  Column<Open> open, left;
  for (std::uint32_t i = 0; i < pieces.size(); ++i) open.push_back({pieces[i].span, i});
  sort_by_begin(open);
  PlaceSweep(rank, is_mark, use, left).run(thread, open);
  for (const Open& rest : left) use({rest.piece, kNoRow, kNoRow, rest.span.length()});
}

}  // namespace stepscope::derive
