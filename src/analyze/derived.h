// Values derived from a trace and the chosen steps, shared by analyses: each is computed once, at first use.
#pragma once

#include <memory>
#include <mutex>
#include <typeindex>
#include <utility>
#include <vector>

#include "analyze/question.h"
#include "analyze/ranks/rank_digest.h"
#include "derive/idle/device_busy.h"
#include "derive/idle/idle_cause.h"
#include "derive/idle/launch_queue.h"
#include "derive/idle/waiting_calls.h"
#include "derive/ranks/clock_alignment.h"
#include "derive/ranks/collective_match.h"
#include "report/params.h"
#include "trace/trace.h"

namespace stepscope::analyze {

class ReplayedJob;
class ReplayedRank;

/// Thread-safe: a second caller waits for the first. References stay valid as long as this lives.
class Derived {
 public:
  Derived(const trace::Trace& trace, const report::Params& params);
  /// `heads`: ranks without events. Only values that compare ranks are available.
  Derived(const trace::Trace& heads, const report::Params& params, std::vector<RankDigest> digests);
  ~Derived();
  Derived(const Derived&) = delete;
  Derived& operator=(const Derived&) = delete;

  const trace::Trace& trace() const { return trace_; }
  const StepChoice& choice() const { return choice_; }

  const std::vector<derive::DeviceBusy>& busy(const trace::Rank& rank) const;
  /// Idle pieces in the window of the chosen steps.
  const Column<derive::IdlePiece>& idle(const trace::Rank& rank) const;
  const derive::LaunchQueue& queue(const trace::Rank& rank) const;
  const std::vector<derive::Waiting>& waits(const trace::Rank& rank) const;
  const ReplayedRank& replayed(const trace::Rank& rank) const;
  const RankSteps& steps(const trace::Rank& rank) const;
  const RankCommunication& communication(const trace::Rank& rank) const;
  /// Across all ranks.
  const derive::Collectives& collectives() const;
  const derive::Alignment& alignment() const;
  const ReplayedJob& job() const;
  /// A value that only some analyses need: the first caller's `make()`, keyed by Value and `number`.
  template <class Value, class Make>
  const Value& kept(int number, Make make) const {
    Kept& kept = kept_at({typeid(Value), number});
    std::call_once(kept.made, [&] { kept.value = std::make_shared<const Value>(make()); });
    return *static_cast<const Value*>(kept.value.get());
  }
  /// True if ranks have digests only, no events.
  bool digested() const { return digested_; }

 private:
  struct OfRank;
  struct OfAll;
  struct Kept {
    std::once_flag made;
    std::shared_ptr<const void> value;
  };
  OfRank& of(const trace::Rank& rank) const;
  Kept& kept_at(std::pair<std::type_index, int> key) const;

  const trace::Trace& trace_;
  const StepChoice choice_;
  std::unique_ptr<OfRank[]> ranks_;
  std::unique_ptr<OfAll> all_;
  bool digested_ = false;
};

/// Adds a note if gaps of the rank were not split by cause.
void note_whole_gaps(std::vector<std::string>& notes, const Derived& derived, const trace::Rank& rank);

}  // namespace stepscope::analyze
