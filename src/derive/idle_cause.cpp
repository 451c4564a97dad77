#include "derive/idle_cause.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "derive/kernel_class.h"
#include "derive/loading.h"

namespace stepscope::derive {
namespace {

using timeline::Interval;
using timeline::IntervalSet;
using timeline::Time;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::TrackId;

constexpr std::array kHostCauses = {IdleCause::sync,      IdleCause::alloc, IdleCause::launch,
                                    IdleCause::runtime,   IdleCause::op,    IdleCause::python,
                                    IdleCause::annotation};

/// What one thread did, by cause.
struct HostTime {
  std::array<std::vector<Interval>, kIdleCauses> by_cause;
  std::vector<Time> blocking_ends;  ///< ends of blocking calls, ascending
};

/// What a name means, asked once per name.
class Names {
 public:
  explicit Names(const trace::Trace& trace) : trace_(trace), known_(trace.strings.size(), kUnknown) {}

  /// kIdleCauses: the range says nothing (a step mark).
  std::size_t cause(trace::StringId name, Kind kind) {
    std::uint8_t& known = known_[name];
    if (known == kUnknown) known = static_cast<std::uint8_t>(ask(trace_.text(name)));
    if (kind == Kind::runtime) return known >= kNamed ? static_cast<std::size_t>(IdleCause::runtime) : known;
    if (known == kStepMark) return kIdleCauses;
    return static_cast<std::size_t>(kind == Kind::op       ? IdleCause::op
                                    : kind == Kind::python ? IdleCause::python
                                                           : IdleCause::annotation);
  }

 private:
  static constexpr std::uint8_t kNamed = 100, kStepMark = 101, kUnknown = 255;

  static std::size_t ask(std::string_view name) {
    if (name.starts_with("ProfilerStep")) return kStepMark;
    if (is_blocking_call(name)) return static_cast<std::size_t>(IdleCause::sync);
    if (is_allocation_call(name)) return static_cast<std::size_t>(IdleCause::alloc);
    if (is_launch_call(name)) return static_cast<std::size_t>(IdleCause::launch);
    return kNamed;
  }

  const trace::Trace& trace_;
  std::vector<std::uint8_t> known_;
};

std::vector<HostTime> host_times(const trace::Trace& trace, const Rank& rank) {
  const EventTable& e = rank.events;
  Names names(trace);
  std::vector<HostTime> threads(rank.tracks.size());
  for (TrackId t = 0; t < rank.tracks.size(); ++t) {
    for (Row row = rank.tracks[t].begin; row < rank.tracks[t].end; ++row) {
      if (!is_host_range(e.kind[row])) continue;
      const std::size_t cause = names.cause(e.name[row], e.kind[row]);
      if (cause == kIdleCauses) continue;
      const Interval span{e.start[row], e.end[row]};
      std::vector<Interval>& list = threads[t].by_cause[cause];
      if (!list.empty() && list.back().begin <= span.begin && span.end <= list.back().end)
        continue;  // nested
      list.push_back(span);
      if (cause == static_cast<std::size_t>(IdleCause::sync)) threads[t].blocking_ends.push_back(span.end);
    }
    std::sort(threads[t].blocking_ends.begin(), threads[t].blocking_ends.end());
  }
  return threads;
}

struct Labelled {
  Interval span;
  IdleCause cause;
};

/// Cause at every instant as seen from one launching thread, in time order: sets are laid down by precedence,
/// each only where nothing lies yet. Only `gaps` matter, so only they are labelled.
class Labels {
 public:
  explicit Labels(IntervalSet gaps) : left_(std::move(gaps)) {}

  void lay(const IntervalSet& set, IdleCause cause) {
    if (set.empty() || left_.empty()) return;
    const IntervalSet share = intersect(left_, set);
    if (share.empty()) return;
    left_ = subtract(left_, share);
    std::vector<Labelled> fresh, merged;
    for (const Interval& part : share.parts()) fresh.push_back({part, cause});
    merged.resize(fresh.size() + labels_.size());
    std::merge(labels_.begin(), labels_.end(), fresh.begin(), fresh.end(), merged.begin(),
               [](const Labelled& a, const Labelled& b) { return a.span.begin < b.span.begin; });
    labels_ = std::move(merged);
  }
  std::vector<Labelled> finish() {
    const IntervalSet rest = left_;
    lay(rest, IdleCause::untraced);
    return std::move(labels_);
  }

 private:
  IntervalSet left_;
  std::vector<Labelled> labels_;
};

/// Sets of one thread by cause, nothing for causes it never had.
using ThreadSets = std::array<IntervalSet, kIdleCauses>;

/// The causes of a thread's gaps: loading on any thread, what the thread itself did, what any launching
/// thread did.
std::vector<Labelled> label_gaps(const ThreadSets& own, const ThreadSets& all, const IntervalSet& input,
                                 const IntervalSet& gaps) {
  Labels labels(gaps);
  labels.lay(input, IdleCause::input);
  for (const ThreadSets* sets : {&own, &all})
    for (IdleCause cause : kHostCauses) labels.lay((*sets)[static_cast<std::size_t>(cause)], cause);
  return labels.finish();
}

/// A gap of a device, the event that ended it, and the thread whose doing explains it.
struct Gap {
  Interval span;
  std::int32_t device;
  Row ender;
  TrackId thread;
};

/// Device events by device and start, for finding the one that ended a gap.
std::map<std::int64_t, std::vector<Row>> by_start(const Rank& rank) {
  const EventTable& e = rank.events;
  std::map<std::int64_t, std::vector<Row>> rows;
  for (const trace::Track& track : rank.tracks) {
    if (track.side != trace::Track::Side::device) continue;
    std::vector<Row>& of_device = rows[track.device];
    for (Row row = track.begin; row < track.end; ++row)
      if (is_device_work(e.kind[row])) of_device.push_back(row);
  }
  for (auto& [device, of_device] : rows)
    std::stable_sort(of_device.begin(), of_device.end(),
                     [&](Row a, Row b) { return e.start[a] < e.start[b]; });
  return rows;
}

/// All gaps, by device and time. Those that no known launch ended belong to the first launching thread.
std::vector<Gap> gaps_of(const Rank& rank, const std::vector<DeviceBusy>& devices, Interval window,
                         TrackId first_launcher) {
  const EventTable& e = rank.events;
  const auto rows = by_start(rank);
  std::vector<Gap> gaps;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const std::vector<Row>& of_device = rows.at(devices[d].device);
    auto next = of_device.begin();
    const IntervalSet idle = devices[d].all.gaps(window);
    for (const Interval& span : idle.parts()) {
      while (next != of_device.end() && e.start[*next] < span.end) ++next;
      const Row ender = next != of_device.end() && span.end < window.end ? *next : kNoRow;
      const Row launch = ender == kNoRow ? kNoRow : e.launch[ender];
      gaps.push_back(
          {span, static_cast<std::int32_t>(d), ender, launch == kNoRow ? first_launcher : e.track[launch]});
    }
  }
  return gaps;
}

/// Cuts gaps into pieces of one cause each.
class GapWalk {
 public:
  GapWalk(const Rank& rank, const std::vector<HostTime>& threads,
          const std::map<TrackId, std::vector<Labelled>>& labels, std::vector<IdlePiece>& out)
      : e_(rank.events), threads_(threads), labels_(labels), out_(out) {}

  void add(const Gap& gap) {
    gap_ = gap;
    const Row launch = gap.ender == kNoRow ? kNoRow : e_.launch[gap.ender];
    const Time asked =
        launch == kNoRow ? gap.span.end : std::clamp(e_.start[launch], gap.span.begin, gap.span.end);
    const std::vector<Labelled>& labels = labels_.at(gap.thread);
    const Interval late{gap.span.begin, asked};
    if (const Time drained = last_blocking_end(gap.thread, late); drained != trace::kNoTime) {
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
  Time last_blocking_end(TrackId thread, Interval late) const {
    if (thread >= threads_.size()) return trace::kNoTime;
    const std::vector<Time>& ends = threads_[thread].blocking_ends;
    const auto after = std::upper_bound(ends.begin(), ends.end(), late.end);
    return after != ends.begin() && *(after - 1) > late.begin ? *(after - 1) : trace::kNoTime;
  }

  template <class Use>
  void walk(const std::vector<Labelled>& labels, Interval span, Use use) {
    auto at = std::upper_bound(labels.begin(), labels.end(), span.begin,
                               [](Time t, const Labelled& l) { return t < l.span.end; });
    for (; at != labels.end() && at->span.begin < span.end; ++at)
      use(Interval{std::max(at->span.begin, span.begin), std::min(at->span.end, span.end)}, at->cause);
  }
  void label(const std::vector<Labelled>& labels, Interval span) {
    walk(labels, span, [&](Interval part, IdleCause cause) { add(part, cause); });
  }
  /// Loading that follows a blocking call is still loading; all else until the launch is refill.
  void split_refill(const std::vector<Labelled>& labels, Interval span) {
    walk(labels, span, [&](Interval part, IdleCause cause) {
      add(part, cause == IdleCause::input ? cause : IdleCause::refill);
    });
  }

  const EventTable& e_;
  const std::vector<HostTime>& threads_;
  const std::map<TrackId, std::vector<Labelled>>& labels_;
  std::vector<IdlePiece>& out_;
  Gap gap_{};
};

constexpr TrackId kNoThread = std::numeric_limits<TrackId>::max();

/// What the launching threads did in `gaps`; takes `threads`' intervals.
std::map<TrackId, ThreadSets> sets_in(const IntervalSet& gaps, const std::vector<TrackId>& launchers,
                                      std::vector<HostTime>& threads) {
  std::map<TrackId, ThreadSets> sets;
  for (const TrackId thread : launchers)
    for (IdleCause cause : kHostCauses) {
      const auto c = static_cast<std::size_t>(cause);
      sets[thread][c] = intersect(gaps, IntervalSet::of(std::move(threads[thread].by_cause[c])));
    }
  for (HostTime& thread : threads) thread.by_cause = {};
  return sets;
}

ThreadSets united(const std::map<TrackId, ThreadSets>& threads) {
  ThreadSets all;
  for (IdleCause cause : kHostCauses) {
    const auto c = static_cast<std::size_t>(cause);
    std::vector<Interval> parts;
    for (const auto& [thread, sets] : threads)
      parts.insert(parts.end(), sets[c].parts().begin(), sets[c].parts().end());
    all[c] = IntervalSet::of(std::move(parts));
  }
  return all;
}

std::vector<TrackId> launching_threads(const Rank& rank) {
  const EventTable& e = rank.events;
  std::vector<bool> launches(rank.tracks.size());
  for (Row row = 0; row < e.size(); ++row)
    if (is_device_work(e.kind[row]) && e.launch[row] != kNoRow) launches[e.track[e.launch[row]]] = true;
  std::vector<TrackId> threads;
  for (TrackId t = 0; t < rank.tracks.size(); ++t)
    if (launches[t]) threads.push_back(t);
  return threads;
}

}  // namespace

std::string_view name_of(IdleCause cause) {
  constexpr std::string_view kNames[kIdleCauses] = {"input",      "sync",     "refill", "alloc",
                                                    "launch",     "runtime",  "op",     "python",
                                                    "annotation", "untraced", "pending"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::string_view meaning_of(IdleCause cause) {
  constexpr std::string_view kMeanings[kIdleCauses] = {
      "the data loader was waited for",
      "the host was inside a blocking call",
      "the queue had been drained by a blocking call and was being refilled",
      "the host was allocating or freeing device or pinned memory",
      "the host was inside launch calls",
      "the host was inside other runtime calls",
      "the host was running framework operators",
      "the host was running Python",
      "the host was inside a user range with nothing else recorded",
      "nothing is recorded on the launching threads",
      "the work was launched and had not started"};
  return kMeanings[static_cast<std::size_t>(cause)];
}

std::vector<IdlePiece> idle_pieces(const trace::Trace& trace, const Rank& rank,
                                   const std::vector<DeviceBusy>& devices, Interval window) {
  const std::vector<TrackId> launchers = launching_threads(rank);
  const std::vector<Gap> gaps =
      gaps_of(rank, devices, window, launchers.empty() ? kNoThread : launchers.front());
  std::map<TrackId, std::vector<Interval>> gaps_by_thread;
  std::vector<Interval> idle;
  for (const Gap& gap : gaps) {
    gaps_by_thread[gap.thread].push_back(gap.span);
    idle.push_back(gap.span);
  }
  std::vector<HostTime> threads = host_times(trace, rank);
  std::map<TrackId, ThreadSets> own = sets_in(IntervalSet::of(std::move(idle)), launchers, threads);
  const ThreadSets all = united(own);
  const IntervalSet input = loading_time(trace, rank);
  std::map<TrackId, std::vector<Labelled>> labels;
  for (auto& [thread, spans] : gaps_by_thread)
    labels[thread] = label_gaps(own[thread], all, input, IntervalSet::of(std::move(spans)));
  std::vector<IdlePiece> pieces;
  GapWalk walk(rank, threads, labels, pieces);
  for (const Gap& gap : gaps) walk.add(gap);
  return pieces;
}

}  // namespace stepscope::derive
