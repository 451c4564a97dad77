// Convolutions that another setting would make cheaper: fallback kernels, and biases that a norm takes away
// again.
#pragma once

#include "analyze/question.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::analyze {

class ConvSetup {
 public:
  explicit ConvSetup(const trace::Trace& trace);
  void add(const trace::Trace& trace, const trace::Rank& rank, const StepChoice& choice);
  report::Table take() && { return std::move(table_); }

 private:
  report::Table table_;
  RankColumn rank_;
  report::Texts& what_;
  report::Ints &kernels_, &time_;
  report::Reals& share_;
  report::Texts &sizes_, &kernel_;
};

}  // namespace stepscope::analyze
