#include "analyze/derived.h"

#include <fmt/format.h>

#include <map>

#include "analyze/replay/replayed_job.h"
#include "analyze/replay/replayed_rank.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {

using trace::Rank;

template <class Value>
class Once {
 public:
  template <class Make>
  const Value& get(Make make) {
    std::call_once(flag_, [&] { value_ = make(); });
    return value_;
  }

 private:
  std::once_flag flag_;
  Value value_;
};

struct Derived::OfRank {
  Once<std::vector<derive::DeviceBusy>> busy;
  Once<Column<derive::IdlePiece>> idle;
  Once<derive::LaunchQueue> queue;
  Once<std::vector<derive::Waiting>> waits;
  Once<std::unique_ptr<ReplayedRank>> replayed;
  Once<RankSteps> steps;
  Once<RankCommunication> communication;
};

struct Derived::OfAll {
  Once<derive::Collectives> collectives;
  Once<derive::Alignment> alignment;
  Once<std::unique_ptr<ReplayedJob>> job;
  std::mutex mutex;  // guards `kept`; its values are made without this lock
  std::map<std::pair<std::type_index, int>, Kept> kept;
};

Derived::Derived(const trace::Trace& trace, const report::Params& params)
    : trace_(trace),
      choice_(params),
      ranks_(std::make_unique<OfRank[]>(trace.ranks.size())),
      all_(std::make_unique<OfAll>()) {}

Derived::Derived(const trace::Trace& heads, const report::Params& params, std::vector<RankDigest> digests)
    : Derived(heads, params) {
  CHECK(digests.size() == heads.ranks.size());
  digested_ = true;
  for (std::size_t r = 0; r < digests.size(); ++r) {
    ranks_[r].steps.get([&] { return std::move(digests[r].steps); });
    ranks_[r].communication.get([&] { return std::move(digests[r].communication); });
  }
  all_->collectives.get([&] { return match_digests(digests, derive::numbers_of(heads)); });
}

Derived::~Derived() = default;

Derived::OfRank& Derived::of(const Rank& rank) const { return ranks_[&rank - trace_.ranks.data()]; }

const std::vector<derive::DeviceBusy>& Derived::busy(const Rank& rank) const {
  return of(rank).busy.get([&] { return derive::busy_devices(rank); });
}

const Column<derive::IdlePiece>& Derived::idle(const Rank& rank) const {
  return of(rank).idle.get(
      [&] { return derive::idle_pieces(trace_, rank, busy(rank), window_of(rank, choice_)); });
}

const derive::LaunchQueue& Derived::queue(const Rank& rank) const {
  return of(rank).queue.get([&] { return derive::launch_queue(trace_, rank); });
}

const std::vector<derive::Waiting>& Derived::waits(const Rank& rank) const {
  return of(rank).waits.get([&] { return derive::waiting_calls(trace_, rank, queue(rank)); });
}

const ReplayedRank& Derived::replayed(const Rank& rank) const {
  return *of(rank).replayed.get(
      [&] { return std::make_unique<ReplayedRank>(trace_, rank, choice_, waits(rank)); });
}

const RankSteps& Derived::steps(const Rank& rank) const {
  return of(rank).steps.get([&] { return rank_steps(*this, rank); });
}

const RankCommunication& Derived::communication(const Rank& rank) const {
  return of(rank).communication.get([&] {
    const auto index = static_cast<std::size_t>(&rank - trace_.ranks.data());
    return rank_communication(*this, rank, collectives().rows[index]);
  });
}

const derive::Alignment& Derived::alignment() const {
  return all_->alignment.get([&] { return derive::align_clocks(collectives()); });
}

const derive::Collectives& Derived::collectives() const {
  return all_->collectives.get([&] { return derive::collectives_of(trace_); });
}

const ReplayedJob& Derived::job() const {
  return *all_->job.get([&] { return std::make_unique<ReplayedJob>(*this); });
}

Derived::Kept& Derived::kept_at(std::pair<std::type_index, int> key) const {
  const std::lock_guard lock(all_->mutex);
  return all_->kept[key];
}

void note_whole_gaps(std::vector<std::string>& notes, const Derived& derived, const Rank& rank) {
  std::int64_t gaps = 0, time = 0;
  for (const derive::IdlePiece& piece : derived.idle(rank)) {
    if (!piece.whole) continue;
    ++gaps;
    report::add_to(time, piece.span.length());
  }
  if (gaps == 0) return;
  notes.push_back(fmt::format(
      "{} device gaps{}, {} in total, are not split by cause and count as untraced: one thread launches to "
      "so many devices that the pieces would far outnumber the events.",
      report::format_value(gaps, report::Unit::count),
      rank.rank < 0 ? "" : fmt::format(" of rank {}", rank.rank),
      report::format_value(time, report::Unit::ns)));
}

}  // namespace stepscope::analyze
