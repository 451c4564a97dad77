// Metrics of a gate and their limits: "step.total>5%", "step.data_loader>10ms", "kernels.total[gemm]>3%",
// "devices.busy<-5%".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compare/recording.h"
#include "trace/trace.h"

namespace stepscope::compare {

struct Limit {
  std::string text;                        ///< as typed
  std::string analysis;                    ///< "step" for the parts of the step
  std::string column;                      ///< "total" or a part of the step; else a column of the analysis
  std::string key;                         ///< the text in brackets
  bool above = true;                       ///< fails above the limit; false: below
  bool relative = true;                    ///< a percentage of BASE; false: the level itself
  double bound = 0;                        ///< 0.05 for 5 %; else in `unit`
  report::Unit unit = report::Unit::none;  ///< of a level: ns, bytes, or none for a plain number
  std::string metric() const;              ///< "kernels.total[gemm]"
};

/// A limit, or a sentence on what is wrong with it.
Result<Limit> parse_limit(std::string_view text);

struct MetricValues {
  std::vector<double> values;  ///< one per step
  std::string missing;         ///< why there are no values, a clause
  report::Unit unit = report::Unit::ns;
  std::string wrong = {};  ///< why there can never be values: an error in the limit
};

/// The values of the limit's metric, step by step.
MetricValues samples_of(const Limit& limit, const trace::Trace& trace, const Recording& recording,
                        unsigned threads);

}  // namespace stepscope::compare
