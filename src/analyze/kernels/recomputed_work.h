// What activation checkpointing costs the device, and the memory it gives back.
#pragma once

#include "analyze/question.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::analyze {

class RecomputedWork {
 public:
  explicit RecomputedWork(const trace::Trace& trace);
  /// Nothing when the rank recomputes nothing.
  void add(const trace::Trace& trace, const trace::Rank& rank, const StepChoice& choice);
  report::Table take() && { return std::move(table_); }

 private:
  report::Table table_;
  RankColumn rank_;
  report::Texts& evidence_;
  report::Ints &kernels_, &time_;
  report::Reals& share_;
  report::Ints& held_;
};

}  // namespace stepscope::analyze
