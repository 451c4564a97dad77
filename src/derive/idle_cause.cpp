#include "derive/idle_cause.h"

#include <algorithm>
#include <array>
#include <map>

#include "derive/kernel_class.h"

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
    if (known == static_cast<std::uint8_t>(IdleCause::input)) return known;
    if (known == kStepMark) return kIdleCauses;
    return static_cast<std::size_t>(kind == Kind::op       ? IdleCause::op
                                    : kind == Kind::python ? IdleCause::python
                                                           : IdleCause::annotation);
  }

 private:
  static constexpr std::uint8_t kNamed = 100, kStepMark = 101, kUnknown = 255;

  static std::size_t ask(std::string_view name) {
    if (is_data_loading(name)) return static_cast<std::size_t>(IdleCause::input);
    if (name.starts_with("ProfilerStep")) return kStepMark;
    if (is_blocking_call(name)) return static_cast<std::size_t>(IdleCause::sync);
    if (is_allocation_call(name)) return static_cast<std::size_t>(IdleCause::alloc);
    if (is_launch_call(name)) return static_cast<std::size_t>(IdleCause::launch);
    return kNamed;
  }

  const trace::Trace& trace_;
  std::vector<std::uint8_t> known_;
};

std::vector<HostTime> host_times(const trace::Trace& trace, const Rank& rank, std::vector<Interval>& input) {
  const EventTable& e = rank.events;
  Names names(trace);
  std::vector<HostTime> threads(rank.tracks.size());
  for (TrackId t = 0; t < rank.tracks.size(); ++t) {
    for (Row row = rank.tracks[t].begin; row < rank.tracks[t].end; ++row) {
      if (!is_host_range(e.kind[row])) continue;
      const std::size_t cause = names.cause(e.name[row], e.kind[row]);
      if (cause == kIdleCauses) continue;
      const Interval span{e.start[row], e.end[row]};
      if (cause == static_cast<std::size_t>(IdleCause::input)) {
        input.push_back(span);
        continue;
      }
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

std::vector<Labelled> label_gaps(const std::vector<ThreadSets>& launchers, std::size_t self,
                                 const IntervalSet& input, const IntervalSet& gaps) {
  Labels labels(gaps);
  labels.lay(input, IdleCause::input);
  for (IdleCause cause : kHostCauses) labels.lay(launchers[self][static_cast<std::size_t>(cause)], cause);
  for (IdleCause cause : kHostCauses)
    for (std::size_t i = 0; i < launchers.size(); ++i)
      if (i != self) labels.lay(launchers[i][static_cast<std::size_t>(cause)], cause);
  return labels.finish();
}

/// Device events by start, for finding the one that ended a gap.
std::vector<Row> by_start(const Rank& rank, std::int64_t device) {
  const EventTable& e = rank.events;
  std::vector<Row> rows;
  for (const trace::Track& track : rank.tracks) {
    if (track.side != trace::Track::Side::device || track.device != device) continue;
    const auto middle = static_cast<std::ptrdiff_t>(rows.size());
    for (Row row = track.begin; row < track.end; ++row)
      if (is_device_work(e.kind[row])) rows.push_back(row);
    std::inplace_merge(rows.begin(), rows.begin() + middle, rows.end(),
                       [&](Row a, Row b) { return e.start[a] < e.start[b]; });
  }
  return rows;
}

/// Walks the gaps of one device.
class GapWalk {
 public:
  GapWalk(const Rank& rank, const std::vector<HostTime>& threads,
          const std::map<TrackId, std::vector<Labelled>>& labels, std::int32_t device,
          std::vector<IdlePiece>& out)
      : e_(rank.events), threads_(threads), labels_(labels), device_(device), out_(out) {}

  void gap(Interval gap, Row ender) {
    ender_ = ender;
    const Row launch = ender == kNoRow ? kNoRow : e_.launch[ender];
    const auto found = launch == kNoRow ? labels_.begin() : labels_.find(e_.track[launch]);
    if (found == labels_.end()) {
      add(gap, IdleCause::untraced);
      return;
    }
    const Time asked = launch == kNoRow ? gap.end : std::clamp(e_.start[launch], gap.begin, gap.end);
    Interval late{gap.begin, asked};
    if (const Time drained = last_blocking_end(found->first, late); drained != trace::kNoTime) {
      label(found->second, {late.begin, drained});
      split_refill(found->second, {drained, late.end});
    } else {
      label(found->second, late);
    }
    add({asked, gap.end}, IdleCause::pending);
  }

 private:
  void add(Interval span, IdleCause cause) {
    if (span.length() > 0) out_.push_back({span, cause, device_, ender_});
  }

  /// End of the last blocking call that returned inside `late`, kNoTime if none did.
  Time last_blocking_end(TrackId thread, Interval late) const {
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
  const std::int32_t device_;
  std::vector<IdlePiece>& out_;
  Row ender_ = kNoRow;
};

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
  std::vector<Interval> loading;
  std::vector<HostTime> threads = host_times(trace, rank, loading);
  const IntervalSet input = IntervalSet::of(std::move(loading));
  const std::vector<TrackId> launchers = launching_threads(rank);
  constexpr std::size_t kMostLaunchers = 16;
  IntervalSet all_gaps;
  for (const DeviceBusy& device : devices) all_gaps = unite(all_gaps, device.all.gaps(window));
  std::vector<ThreadSets> sets;
  for (std::size_t i = 0; i < std::min(launchers.size(), kMostLaunchers); ++i) {
    ThreadSets own;
    for (IdleCause cause : kHostCauses)
      own[static_cast<std::size_t>(cause)] = intersect(
          all_gaps,
          IntervalSet::of(std::move(threads[launchers[i]].by_cause[static_cast<std::size_t>(cause)])));
    sets.push_back(std::move(own));
  }
  for (HostTime& thread : threads) thread.by_cause = {};
  std::map<TrackId, std::vector<Labelled>> labels;
  for (std::size_t i = 0; i < sets.size(); ++i) labels[launchers[i]] = label_gaps(sets, i, input, all_gaps);
  std::vector<IdlePiece> pieces;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const std::vector<Row> rows = by_start(rank, devices[d].device);
    GapWalk walk(rank, threads, labels, static_cast<std::int32_t>(d), pieces);
    auto next = rows.begin();
    const IntervalSet gaps = devices[d].all.gaps(window);
    for (const Interval& gap : gaps.parts()) {
      while (next != rows.end() && rank.events.start[*next] < gap.end) ++next;
      walk.gap(gap, next != rows.end() && gap.end < window.end ? *next : kNoRow);
    }
  }
  return pieces;
}

}  // namespace stepscope::derive
