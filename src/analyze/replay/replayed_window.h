// The window of the chosen steps, in the recording and in a replay.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyze/question.h"
#include "derive/replay/replay.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// Steps begin and end in a replay by the rule of `step_spans`, at the same instants of the program.
class ReplayedWindow {
 public:
  ReplayedWindow(const trace::Trace& trace, const trace::Rank& rank, const StepChoice& choice);

  /// Host times that a plan must follow: where steps begin and end.
  const std::vector<derive::ReplayPlan::Mark>& marks() const { return marks_; }
  timeline::Time recorded() const { return recorded_.length(); }
  bool contains(timeline::Time recorded) const {
    return recorded_.begin <= recorded && recorded < recorded_.end;
  }
  std::int64_t steps() const;  ///< complete chosen steps, at least 1
  /// From the begin of the first chosen step, or of the chosen step `left_out` later, to the end of the last
  /// one, but at least the host's time for them: if the device still works on earlier steps when the window
  /// begins, the host has a lead that a longer run would not keep. If the host took longer than the recorded
  /// window, the same excess is allowed here. Host work before the first wait for the earlier steps moves
  /// into the window as those become shorter.
  timeline::Time length(const derive::ReplayPlan& plan, const derive::Replayed& replayed,
                        std::int64_t left_out = 0) const;
  /// Whether the device event was launched in a chosen step.
  bool has(trace::Row event) const;

 private:
  /// The marks of one instant of a step: `count` marks from `first` on. A step that is the whole recording
  /// ends with a mark on each thread of last_ends().
  struct Marks {
    std::size_t first = 0, count = 0;
  };
  void add_marks(const trace::Trace& trace);
  std::vector<derive::ReplayPlan::Mark> last_ends(const trace::Trace& trace) const;
  static timeline::Time latest(const std::vector<timeline::Time>& times, const Marks& marks);
  std::vector<timeline::Time> device_ends(const derive::ReplayPlan& plan,
                                          const derive::Replayed& replayed) const;
  /// Index of the chosen step after `left_out` other chosen ones; the number of steps if there is none.
  std::size_t first_step(std::int64_t left_out) const;
  timeline::Time host_length(const std::vector<timeline::Time>& marks, std::int64_t left_out) const;
  timeline::Time first_begin(const derive::ReplayPlan& plan, const derive::Replayed& replayed) const;

  const trace::Rank& rank_;
  std::vector<StepSpan> spans_;
  std::vector<bool> chosen_;  // by step
  timeline::Interval recorded_;
  std::vector<derive::ReplayPlan::Mark> marks_;
  std::vector<Marks> begins_, ends_;  // by step
  /// By steps left out: the host's lead at the window's begin, beyond its lead at the end.
  std::array<timeline::Time, 2> recorded_lead_{};
};

}  // namespace stepscope::analyze
