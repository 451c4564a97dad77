// A rank that can be replayed with changes: its plan, made once, and how long its steps take then.
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

/// Replays without changes that are further off than this are refused.
inline constexpr double kMaxReplayError = 0.05;

/// What scales change in one rank.
struct Change {
  derive::Changes changes;
  bool found = false;  ///< whether the rank has anything of that kind

  void add(const Change& other);
};

/// What host ranges launched, and all they call on their thread.
struct Launched {
  /// Outermost ones, those that run beside one of another thread aside, and the time in which any runs, ns.
  std::int64_t ranges = 0, host = 0;
  std::int64_t called = 0;               ///< of that, in the ranges and calls directly inside, ns
  std::int64_t later_ranges = 0;         ///< of them, those behind the second step
  std::int64_t later_host = 0;           ///< and their time, ns
  std::int64_t ops = 0;                  ///< operators that no other operator calls
  std::int64_t recording = 0;            ///< what recording cost in them, as capture estimates it, ns
  std::int64_t events = 0, device = 0;   ///< device events, and the sum of their lengths, ns
  std::int64_t median = report::kNoInt;  ///< length of those events, ns
  /// Idle time that was spent inside, mean over devices, ns in the window; 0 where replay says it better, and
  /// it is not asked for.
  std::int64_t idle = 0;
  bool idle_asked = false;
  std::string name;  ///< of the first of these ranges
};

class ReplayedRank {
 public:
  ReplayedRank(const trace::Trace& trace, const trace::Rank& rank, const StepChoice& choice,
               const std::vector<derive::Waiting>& waits);

  bool has_device() const { return !plan_.events.empty(); }
  /// Of the replay without changes: its difference to the recorded length / that.
  double error() const;
  bool usable() const { return has_device() && error() <= kMaxReplayError; }

  /// Of the device events in the window: those whose launch is not in the file, which only follow their
  /// stream.
  double unlinked() const;

  std::int64_t steps() const { return window_.steps(); }
  /// Lengths of the window of the chosen steps, ns.
  std::int64_t recorded() const { return window_.recorded(); }
  std::int64_t identity(bool without_first = false) const {
    return without_first ? identity_without_first_ : identity_;
  }
  std::int64_t length(const Change& change) const;
  /// What a change takes off the window, or off it without its first step, ns; negative where it costs.
  std::int64_t saved(const Change& change, bool without_first) const;
  /// The window, or the window without its first step, with a change and the host at a pace (see replay), ns.
  std::int64_t length(const Change& change, bool without_first, double pace) const;
  /// What the host needs where the device takes no time and nothing waits for it, ns.
  std::int64_t host_alone(derive::Changes changes, bool without_first = false) const;

  /// What another replay of its plan makes of the window, ns.
  std::int64_t length_of(const derive::Replayed& replayed) const { return window_.length(plan_, replayed); }
  const derive::ReplayPlan& plan() const { return plan_; }
  const ReplayedWindow& window() const { return window_; }

  Change change_of(std::span<const Scale> scales) const;
  /// Of each of `parts` (at most 31), by host ranges whose name contains it. One pass for all. `idle`: the
  /// rank's, looked at only where the rank cannot be replayed or part of its device events has no launch.
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
