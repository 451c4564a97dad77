// Copies and fills by name.
#pragma once

#include <string>
#include <vector>

#include "analyze/question.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// Copies or fills of one name. Times in ns; `bytes` is report::kNoInt if no size is recorded.
struct NamedCopies {
  std::int64_t rank;
  std::string name;
  std::int64_t count, bytes, total, mean;
  double rate;  ///< bytes ÷ time of the copies with a recorded size, bytes/s
};

/// Adds a rank's rows, longest total first.
void add_named_copies(std::vector<NamedCopies>& copies, const trace::Trace& trace, const trace::Rank& rank,
                      const StepChoice& choice);
extern const report::Sheet<NamedCopies> kNamedCopiesSheet;

}  // namespace stepscope::analyze
