#include "derive/idle/idle_cause.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "base/sort_runs.h"
#include "derive/idle/host_doing.h"
#include "derive/idle/loading.h"

namespace stepscope::derive {
namespace {

using timeline::Interval;
using timeline::IntervalSet;
using timeline::Time;
using trace::EventTable;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::TrackId;

IntervalSet labelled(const Column<Labelled>& labels, IdleCause cause) {
  Column<Interval> spans;
  for (const Labelled& label : labels)
    if (label.cause == cause) spans.push_back(label.span);
  return IntervalSet::of(std::move(spans));
}

void sort_by_time(Column<Labelled>& labels) {
  sort_runs(labels, [](const Labelled& a, const Labelled& b) { return a.span.begin < b.span.begin; });
}

/// Fills a thread's untraced time with what any launching thread did then, by precedence.
void fill_untraced(Column<Labelled>& labels, const std::array<IntervalSet, kIdleCauses>& others) {
  const auto first = std::stable_partition(
      labels.begin(), labels.end(), [](const Labelled& label) { return label.cause != IdleCause::untraced; });
  IntervalSet left = labelled({first, labels.end()}, IdleCause::untraced);
  labels.erase(first, labels.end());
  const auto lay = [&](const IntervalSet& set, IdleCause cause) {
    for (const Interval& part : set.parts()) labels.push_back({part, cause});
  };
  for (const IdleCause cause : kHostCauses) {
    const IntervalSet share = intersect(left, others[static_cast<std::size_t>(cause)]);
    lay(share, cause);
    if (!share.empty()) left = subtract(left, share);
  }
  lay(left, IdleCause::untraced);
  sort_by_time(labels);
}

/// A gap of a device and the event that ended it.
struct Gap {
  Interval span;
  std::int32_t device;
  Row ender;
};

/// Device events by device and start, to find the event that ended a gap.
std::map<std::int64_t, Column<Row>> by_start(const Rank& rank) {
  const EventTable& e = rank.events;
  std::map<std::int64_t, Column<Row>> rows;
  for (const trace::Track& track : rank.tracks) {
    if (track.side != trace::Track::Side::device) continue;
    Column<Row>& of_device = rows[track.device];
    for (Row row = track.begin; row < track.end; ++row)
      if (is_device_work(e.kind[row])) of_device.push_back(row);
  }
  for (auto& [device, of_device] : rows)
    sort_runs(of_device, [&](Row a, Row b) { return e.start[a] < e.start[b]; });
  return rows;
}

constexpr TrackId kNoThread = std::numeric_limits<TrackId>::max();

/// The thread that explains a gap: the one that launched the work that ended it, else the first that
/// launches.
TrackId thread_of(const Gap& gap, const Rank& rank, const std::vector<TrackId>& launchers) {
  const Row launch = gap.ender == kNoRow ? kNoRow : rank.events.launch[gap.ender];
  if (launch != kNoRow) return rank.events.track[launch];
  return launchers.empty() ? kNoThread : launchers.front();
}

/// All gaps, by device and time.
Column<Gap> gaps_of(const Rank& rank, const std::vector<DeviceBusy>& devices, Interval window) {
  const EventTable& e = rank.events;
  const auto rows = by_start(rank);
  Column<Gap> gaps;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const Column<Row>& of_device = rows.at(devices[d].device);
    auto next = of_device.begin();
    const IntervalSet idle = devices[d].all.gaps(window);
    if (gaps.empty()) gaps.reserve(idle.parts().size());
    for (const Interval& span : idle.parts()) {
      while (next != of_device.end() && e.start[*next] < span.end) ++next;
      const Row ender = next != of_device.end() && span.end < window.end ? *next : kNoRow;
      gaps.push_back({span, static_cast<std::int32_t>(d), ender});
    }
  }
  return gaps;
}

/// Cuts gaps into pieces of one cause each.
class GapWalk {
 public:
  GapWalk(const Rank& rank, const std::vector<TrackId>& launchers, const std::map<TrackId, Doing>& threads,
          Column<IdlePiece>& out)
      : rank_(rank), launchers_(launchers), threads_(threads), most_(most_idle_pieces(rank)), out_(out) {}

  void add(const Gap& gap) {
    gap_ = gap;
    if (out_.size() >= most_) {
      out_.push_back({gap.span, IdleCause::untraced, gap.device, gap.ender, true});
      return;
    }
    const EventTable& e = rank_.events;
    const Row launch = gap.ender == kNoRow ? kNoRow : e.launch[gap.ender];
    const Time asked =
        launch == kNoRow ? gap.span.end : std::clamp(e.start[launch], gap.span.begin, gap.span.end);
    const auto& [labels, blocking_ends] = threads_.at(thread_of(gap, rank_, launchers_));
    const Interval late{gap.span.begin, asked};
    if (const Time drained = last_blocking_end(blocking_ends, late); drained != trace::kNoTime) {
      label(labels, {late.begin, drained});
      split_refill(labels, {drained, late.end});
    } else {
      label(labels, late);
    }
    add({asked, gap.span.end}, IdleCause::pending);
  }

 private:
  void add(Interval span, IdleCause cause) {
    if (span.length() > 0) out_.push_back({span, cause, gap_.device, gap_.ender});
  }

  /// End of the last blocking call that returned inside `late`, kNoTime if none did.
  static Time last_blocking_end(const std::vector<Time>& ends, Interval late) {
    const auto after = std::upper_bound(ends.begin(), ends.end(), late.end);
    return after != ends.begin() && *(after - 1) > late.begin ? *(after - 1) : trace::kNoTime;
  }

  template <class Use>
  void walk(const Column<Labelled>& labels, Interval span, Use use) {
    auto at = std::upper_bound(labels.begin(), labels.end(), span.begin,
                               [](Time t, const Labelled& l) { return t < l.span.end; });
    for (; at != labels.end() && at->span.begin < span.end; ++at)
      use(Interval{std::max(at->span.begin, span.begin), std::min(at->span.end, span.end)}, at->cause);
  }
  void label(const Column<Labelled>& labels, Interval span) {
    walk(labels, span, [&](Interval part, IdleCause cause) { add(part, cause); });
  }
  /// Data loading and file I/O after a blocking call stay what they are; all other time until the launch is
  /// `refill`.
  void split_refill(const Column<Labelled>& labels, Interval span) {
    walk(labels, span, [&](Interval part, IdleCause cause) {
      add(part, cause == IdleCause::input || cause == IdleCause::io ? cause : IdleCause::refill);
    });
  }

  const Rank& rank_;
  const std::vector<TrackId>& launchers_;
  const std::map<TrackId, Doing>& threads_;
  const std::size_t most_;
  Column<IdlePiece>& out_;
  Gap gap_{};
};

std::vector<TrackId> launching_threads(const Rank& rank) {
  const EventTable& e = rank.events;
  std::vector<bool> launches(rank.tracks.size());
  for (const Row row : rank.device_rows())
    if (is_device_work(e.kind[row]) && e.launch[row] != kNoRow) launches[e.track[e.launch[row]]] = true;
  std::vector<TrackId> threads;
  for (TrackId t = 0; t < rank.tracks.size(); ++t)
    if (launches[t]) threads.push_back(t);
  return threads;
}

/// What the host did in the gaps that each thread has to explain: data loading on any thread, then the
/// thread's own ranges, then those of all launching threads.
std::map<TrackId, Doing> what_threads_did(const trace::Trace& trace, const Rank& rank,
                                          const std::vector<TrackId>& launchers, const Column<Gap>& gaps) {
  std::map<TrackId, Column<Interval>> spans;
  for (const Gap& gap : gaps) {
    Column<Interval>& of_thread = spans[thread_of(gap, rank, launchers)];
    if (spans.size() == 1 && of_thread.empty()) of_thread.reserve(gaps.size());
    of_thread.push_back(gap.span);
  }
  const IntervalSet input = loading_time(trace, rank);
  CauseOfName causes(trace);
  std::map<TrackId, Doing> threads;
  bool any_untraced = false;
  for (auto& [thread, own] : spans) {
    const IntervalSet where = IntervalSet::of(std::move(own));
    Doing& doing = threads[thread] = doing_in(subtract(where, input), rank, thread, causes);
    any_untraced |= std::any_of(doing.labels.begin(), doing.labels.end(),
                                [](const Labelled& label) { return label.cause == IdleCause::untraced; });
    const IntervalSet loading = intersect(where, input);
    for (const Interval& part : loading.parts()) doing.labels.push_back({part, IdleCause::input});
    sort_by_time(doing.labels);
  }
  if (!any_untraced || launchers.size() < 2) return threads;
  const std::array<IntervalSet, kIdleCauses> all = doing_of_all(rank, launchers, causes);
  for (auto& [thread, doing] : threads) fill_untraced(doing.labels, all);
  return threads;
}

}  // namespace

std::string_view name_of(IdleCause cause) {
  constexpr std::string_view kNames[kIdleCauses] = {"input",  "sync",       "refill",   "alloc",
                                                    "launch", "runtime",    "io",       "op",
                                                    "python", "annotation", "untraced", "pending"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::string_view meaning_of(IdleCause cause) {
  constexpr std::string_view kMeanings[kIdleCauses] = {
      "the host was waiting for the data loader",
      "the host was inside a blocking call",
      "the queue had been drained by a blocking call and was being refilled",
      "the host was allocating or freeing device or pinned memory",
      "the host was inside launch calls",
      "the host was inside other runtime calls",
      "the host was reading or writing files",
      "the host was running framework operators",
      "the host was running Python",
      "the host was inside a user range with nothing else recorded",
      "nothing is recorded on the launching threads",
      "the work was launched and had not started"};
  return kMeanings[static_cast<std::size_t>(cause)];
}

std::size_t most_idle_pieces(const Rank& rank) {
  constexpr std::size_t kPerEvent = 16, kAlways = std::size_t{1} << 20;
  return kAlways + kPerEvent * rank.events.size();
}

Column<IdlePiece> idle_pieces(const trace::Trace& trace, const Rank& rank,
                              const std::vector<DeviceBusy>& devices, Interval window) {
  const std::vector<TrackId> launchers = launching_threads(rank);
  const Column<Gap> gaps = gaps_of(rank, devices, window);
  Column<IdlePiece> pieces;
  pieces.reserve(gaps.size() * 4);  // pages that stay empty cost nothing, copying to a longer column does
  const std::map<TrackId, Doing> threads = what_threads_did(trace, rank, launchers, gaps);
  GapWalk walk(rank, launchers, threads, pieces);
  for (const Gap& gap : gaps) walk.add(gap);
  return pieces;
}

}  // namespace stepscope::derive
