// A rank that can be replayed with changes: its plan, made once, and the length of its steps with the
// changes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/replay/replayed_window.h"
#include "analyze/replay/whatif_changes.h"
#include "derive/idle/idle_cause.h"
#include "derive/replay/replay.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// Max relative error of the replay without changes; above it, replays are refused.
inline constexpr double kMaxReplayError = 0.05;

/// The changes that scales make in one rank.
struct Change {
  derive::Changes changes;
  bool found = false;  ///< whether the rank has anything of that kind

  void add(const Change& other);
};

/// Host ranges of one name: their time and what they launched, including all that they call on their thread.
struct Launched {
  /// Number of outermost ranges, without those that begin during one of another thread; and the time in which
  /// any of the ranges runs, ns.
  std::int64_t ranges = 0, host = 0;
  std::int64_t called = 0;               ///< time of the ranges and calls directly inside, ns
  std::int64_t later_ranges = 0;         ///< part of `ranges` after the second step
  std::int64_t later_host = 0;           ///< part of `host` after the second step, ns
  std::int64_t ops = 0;                  ///< operators inside that no other operator calls
  std::int64_t recording = 0;            ///< estimated cost of recording inside, ns (derive::RecordingCost)
  std::int64_t events = 0, device = 0;   ///< device events launched inside, and the sum of their lengths, ns
  std::int64_t median = report::kNoInt;  ///< median length of the device events, ns
  /// Device idle time spent inside, mean over devices, ns in the window; 0 if not asked for, as replay gives
  /// a better answer.
  std::int64_t idle = 0;
  bool idle_asked = false;
  std::string name;  ///< name of the first of these ranges
};

class ReplayedRank {
 public:
  ReplayedRank(const trace::Trace& trace, const trace::Rank& rank, const StepChoice& choice,
               const std::vector<derive::Waiting>& waits);

  bool has_device() const { return !plan_.events.empty(); }
  /// Relative error of the replay without changes: |replayed - recorded| / recorded.
  double error() const;
  bool usable() const { return has_device() && error() <= kMaxReplayError; }

  /// Share of the device events in the window whose launch is not in the file; they only follow their stream.
  double unlinked() const;

  std::int64_t steps() const { return window_.steps(); }
  /// Lengths of the window of the chosen steps, ns.
  std::int64_t recorded() const { return window_.recorded(); }
  std::int64_t identity(bool without_first = false) const {
    return without_first ? identity_without_first_ : identity_;
  }
  std::int64_t length(const Change& change) const;
  /// ns that a change saves in the window, or in the window without its first step; negative if it costs
  /// time.
  std::int64_t saved(const Change& change, bool without_first) const;
  /// Length of the window, or of the window without its first step, ns. `pace`: of the host, see
  /// derive::replay.
  std::int64_t length(const Change& change, bool without_first, double pace) const;
  /// Host time if device work took no time and nothing waited for it, ns.
  std::int64_t host_alone(derive::Changes changes, bool without_first = false) const;

  /// Length of the window in a replay of this plan, ns.
  std::int64_t length_of(const derive::Replayed& replayed) const { return window_.length(plan_, replayed); }
  const derive::ReplayPlan& plan() const { return plan_; }
  const ReplayedWindow& window() const { return window_; }

  Change change_of(std::span<const Scale> scales) const;
  /// For each of `parts` (at most 31): host ranges whose name contains it, all in one pass. `idle`: of the
  /// rank, read only if the rank cannot be replayed or too many of its device events have no launch.
  std::vector<Launched> launched_in(std::span<const std::string_view> parts,
                                    const Column<derive::IdlePiece>& idle) const;

 private:
  void add_ranges(std::vector<trace::Row>& rows, Launched& launched) const;

  const trace::Trace& trace_;
  const trace::Rank& rank_;
  ReplayedWindow window_;
  derive::ReplayPlan plan_;
  std::int64_t identity_, identity_without_first_;
};

}  // namespace stepscope::analyze
