// Kernels of the program's own, or of a compiler, that hold few of a multiprocessor's threads.
#pragma once

#include "analyze/question.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::analyze {

class LowOccupancy {
 public:
  explicit LowOccupancy(const trace::Trace& trace);
  /// The rank's kernels that hold under half of the threads, though each multiprocessor gets a block or more.
  void add(const trace::Trace& trace, const trace::Rank& rank, const StepChoice& choice);
  report::Table take() && { return std::move(table_); }

 private:
  report::Table table_;
  RankColumn rank_;
  report::Texts& name_;
  report::Ints &count_, &total_;
  report::Reals &share_, &occupancy_, &blocks_;
  report::Texts& limit_;
  report::Reals& rate_;
};

}  // namespace stepscope::analyze
