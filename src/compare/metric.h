// What a gate looks at: "step.total>5%", "step.data_loader>10ms", "kernels.total[gemm]>3%",
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
  std::string column;                      ///< "total", or a part; of an analysis a column
  std::string key;                         ///< what stands in brackets
  bool above = true;                       ///< fails above the limit; false: below
  bool relative = true;                    ///< a percentage of BASE; false: the level itself
  double bound = 0;                        ///< 0.05 for 5 %; else in `unit`
  report::Unit unit = report::Unit::none;  ///< of a level: ns, bytes, or none for a plain number
  std::string metric() const;              ///< "kernels.total[gemm]"
};

/// A limit, or a sentence on what is wrong with it.
Result<Limit> parse_limit(std::string_view text);

struct Samples {
  std::vector<double> values;  ///< one per step
  std::string missing;         ///< why there are none, a sentence
  report::Unit unit = report::Unit::ns;
  std::string wrong = {};  ///< why there can be none, whatever is recorded: the limit is at fault
};

/// What the limit's metric is, step by step.
Samples samples_of(const Limit& limit, const trace::Trace& trace, const Recording& recording,
                   unsigned threads);

}  // namespace stepscope::compare
