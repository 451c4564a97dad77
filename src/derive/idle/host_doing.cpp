#include "derive/idle/host_doing.h"

#include <algorithm>
#include <limits>

#include "derive/kernel_class.h"

namespace stepscope::derive {
namespace {

using timeline::Interval;
using timeline::IntervalSet;
using timeline::Time;
using trace::EventTable;
using trace::Kind;
using trace::Rank;
using trace::Row;
using trace::TrackId;

/// Values beyond IdleCause: causes that depend on the range's kind too, step marks, names not asked for yet.
constexpr std::uint8_t kNamed = 100, kStepMark = 101, kNotAsked = 255;

std::uint8_t meaning_of_name(std::string_view name) {
  if (is_step_mark(name)) return kStepMark;
  if (is_blocking_call(name)) return static_cast<std::uint8_t>(IdleCause::sync);
  if (is_allocation_call(name)) return static_cast<std::uint8_t>(IdleCause::alloc);
  if (is_launch_call(name)) return static_cast<std::uint8_t>(IdleCause::launch);
  return kNamed;
}

/// Labels every instant of `where` with what one thread did then, in one pass over its rows. A cause holds at
/// an instant if any of its ranges begun so far ends later. Of several causes the first in precedence counts.
class DoingSweep {
 public:
  explicit DoingSweep(const IntervalSet& where) : at_(where.parts().begin()), end_(where.parts().end()) {
    until_.fill(std::numeric_limits<Time>::min());
    doing_.labels.reserve(where.parts().size() * 3);
  }

  void begin(Interval span, IdleCause cause) {
    advance(span.begin);
    Time& until = until_[static_cast<std::size_t>(cause)];
    if (cause == IdleCause::sync && span.end > until) doing_.blocking_ends.push_back(span.end);
    until = std::max(until, span.end);
  }
  Doing finish() {
    advance(std::numeric_limits<Time>::max());
    std::sort(doing_.blocking_ends.begin(), doing_.blocking_ends.end());
    return std::move(doing_);
  }

 private:
  void advance(Time to) {
    for (; at_ != end_ && at_->begin < to; ++at_) {
      label({std::max(at_->begin, done_), std::min(at_->end, to)});
      if (at_->end > to) break;
    }
    done_ = to;
  }
  void label(Interval span) {
    while (span.begin < span.end) {
      IdleCause cause = IdleCause::untraced;
      Time end = span.end;
      for (const IdleCause candidate : kHostCauses) {
        const Time until = until_[static_cast<std::size_t>(candidate)];
        if (until <= span.begin) continue;
        cause = candidate;
        end = std::min(end, until);
        break;
      }
      add({span.begin, end}, cause);
      span.begin = end;
    }
  }
  void add(Interval span, IdleCause cause) {
    Column<Labelled>& labels = doing_.labels;
    if (!labels.empty() && labels.back().cause == cause && labels.back().span.end == span.begin)
      labels.back().span.end = span.end;
    else
      labels.push_back({span, cause});
  }

  std::span<const Interval>::iterator at_, end_;
  Time done_ = std::numeric_limits<Time>::min();
  std::array<Time, kIdleCauses> until_{};
  Doing doing_;
};

}  // namespace

CauseOfName::CauseOfName(const trace::Trace& trace)
    : trace_(trace), known_(trace.strings.size(), kNotAsked) {}

std::size_t CauseOfName::operator()(trace::StringId name, Kind kind) {
  std::uint8_t& known = known_[name];
  if (known == kNotAsked) known = meaning_of_name(trace_.text(name));
  if (kind == Kind::runtime) return known >= kNamed ? static_cast<std::size_t>(IdleCause::runtime) : known;
  if (known == kStepMark) return kIdleCauses;
  return static_cast<std::size_t>(kind == Kind::io       ? IdleCause::io
                                  : kind == Kind::op     ? IdleCause::op
                                  : kind == Kind::python ? IdleCause::python
                                                         : IdleCause::annotation);
}

namespace {

/// Calls use(span, cause) for each range of the thread that has a cause.
template <class Use>
void for_each_doing(const Rank& rank, TrackId thread, CauseOfName& cause_of, Use use) {
  const EventTable& e = rank.events;
  for (Row row = rank.tracks[thread].begin; row < rank.tracks[thread].end; ++row) {
    if (!is_host_range(e.kind[row])) continue;
    const std::size_t cause = cause_of(e.name[row], e.kind[row]);
    if (cause != kIdleCauses) use(Interval{e.start[row], e.end[row]}, static_cast<IdleCause>(cause));
  }
}

}  // namespace

Doing doing_in(const IntervalSet& where, const Rank& rank, TrackId thread, CauseOfName& causes) {
  DoingSweep sweep(where);
  if (thread < rank.tracks.size())
    for_each_doing(rank, thread, causes, [&](Interval span, IdleCause cause) { sweep.begin(span, cause); });
  return sweep.finish();
}

std::array<IntervalSet, kIdleCauses> doing_of_all(const Rank& rank, const std::vector<TrackId>& threads,
                                                  CauseOfName& causes) {
  std::array<Column<Interval>, kIdleCauses> spans;
  for (const TrackId thread : threads) {
    std::array<Time, kIdleCauses> until;
    until.fill(std::numeric_limits<Time>::min());
    for_each_doing(rank, thread, causes, [&](Interval span, IdleCause cause) {
      const auto c = static_cast<std::size_t>(cause);
      if (span.end <= until[c]) return;  // inside a span already listed
      spans[c].push_back(span);
      until[c] = span.end;
    });
  }
  std::array<IntervalSet, kIdleCauses> all;
  for (std::size_t c = 0; c < kIdleCauses; ++c) all[c] = IntervalSet::of(std::move(spans[c]));
  return all;
}

}  // namespace stepscope::derive
