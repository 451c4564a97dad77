// All ranks together: simulates step after step and hands over what happened. Memory depends on one step, not
// on the number of steps.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "make_trace/model/program.h"
#include "make_trace/options.h"
#include "make_trace/run/host.h"

namespace stepscope::make_trace {

/// Receives what happened. Every function may be empty; a step's `meetings` call comes before its `step`
/// calls. Recorded steps are numbered from 0.
struct Observer {
  std::function<void(int rank, std::int64_t at)> begin;
  std::function<void(int step, std::int64_t first_number, const std::vector<Meeting>& meetings)> meetings;
  std::function<void(int rank, const StepRows& rows)> step;
  std::function<void(int rank, const HostRow& drain)> end;
};

class Job {
 public:
  /// `options` and `programs` must outlive the job; `programs` must be the step of exactly these options.
  Job(const Options& options, const Programs& programs);

  void run(const Observer& observer);

 private:
  void simulate_step(int step, bool recorded);
  std::int64_t progress() const;  ///< grows while any rank moves or reaches a collective

  const Options& o_;
  Collectives collectives_;
  std::vector<std::unique_ptr<Host>> hosts_;
};

}  // namespace stepscope::make_trace
