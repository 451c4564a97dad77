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

/// Steps end and begin in a replay by the same rule as in `step_spans`, at the same instants of the program.
class ReplayedWindow {
 public:
  ReplayedWindow(const trace::Trace& trace, const trace::Rank& rank, const StepChoice& choice);

  /// Host times that a plan must follow.
  const std::vector<derive::ReplayPlan::Mark>& marks() const { return marks_; }
  timeline::Time recorded() const { return recorded_.length(); }
  bool contains(timeline::Time recorded) const {
    return recorded_.begin <= recorded && recorded < recorded_.end;
  }
  std::int64_t steps() const;  ///< complete chosen steps, at least 1
  /// From the begin of the first chosen step, or of the one `left_out` steps later, to the end of the last
  /// one, and no less than the host takes for them: a window that begins while the device works off steps
  /// before it holds a lead of the host that no longer run keeps up. Where the host took longer than the
  /// window as recorded, it may here too. What the host does before it first waits for those steps comes into
  /// the window as they become shorter.
  timeline::Time length(const derive::ReplayPlan& plan, const derive::Replayed& replayed,
                        std::int64_t left_out = 0) const;
  /// Whether the device event was launched in one of these steps.
  bool has(trace::Row event) const;

 private:
  /// Marks first … of a step; a step that stands for the whole recording has an end on every thread.
  struct Marks {
    std::size_t first = 0, count = 0;
  };
  void add_marks(const trace::Trace& trace);
  std::vector<derive::ReplayPlan::Mark> last_ends(const trace::Trace& trace) const;
  static timeline::Time latest(const std::vector<timeline::Time>& times, const Marks& marks);
  std::vector<timeline::Time> device_ends(const derive::ReplayPlan& plan,
                                          const derive::Replayed& replayed) const;
  /// Index of the chosen step behind `left_out` others; how many steps there are, without one.
  std::size_t first_step(std::int64_t left_out) const;
  timeline::Time host_length(const std::vector<timeline::Time>& marks, std::int64_t left_out) const;
  timeline::Time first_begin(const derive::ReplayPlan& plan, const derive::Replayed& replayed) const;

  const trace::Rank& rank_;
  std::vector<StepSpan> spans_;
  std::vector<bool> chosen_;  // by step
  timeline::Interval recorded_;
  std::vector<derive::ReplayPlan::Mark> marks_;
  std::vector<Marks> begins_, ends_;  // by step
  /// Of the host at the window's begin, beyond what it has at its end; by steps left out.
  std::array<timeline::Time, 2> recorded_lead_{};
  // beyond what it has at its end
};

}  // namespace stepscope::analyze
