// The same kernels at the end of a recording and at its begin: what changes then is the clock.
#pragma once

#include "analyze/question.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::analyze {

class KernelDrift {
 public:
  explicit KernelDrift(const trace::Trace& trace);
  /// Kernels of one name, grid and block that run in every complete step but the first. Where the file has
  /// whole µs, groups under 20 µs do not count among the slower ones nor the others: they cannot show 5 %.
  /// Nothing with under five steps.
  void add(const trace::Trace& trace, const trace::Rank& rank);
  report::Table take() && { return std::move(table_); }

 private:
  report::Table table_;
  RankColumn rank_;
  report::Ints &groups_, &kernels_;
  report::Reals &slower_, &pace_;
  report::Ints &since_, &excess_, &total_;
};

}  // namespace stepscope::analyze
