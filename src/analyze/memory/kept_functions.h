// The program's functions in which memory was allocated that is never freed.
#pragma once

#include <string>
#include <vector>

#include "analyze/memory/chosen_records.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// `bytes`: allocated in the function and in what it calls, and never freed, within steps.
struct KeptFunction {
  std::int64_t rank = -1;
  derive::MemoryDevice memory;
  std::string function;    ///< "train.py(40): validate"
  std::int64_t depth = 0;  ///< most functions of the program around it
  std::int64_t bytes = 0, count = 0;
  double share = 0;  ///< of all that is never freed
};
extern const report::Sheet<KeptFunction> kKeptFunctionSheet;

/// Adds a memory's functions, most bytes first, outer functions before those that they call. Nothing without
/// addresses or without Python calls.
void add_kept_functions(std::vector<KeptFunction>& out, const trace::Trace& trace,
                        const ChosenRecords& memory);

}  // namespace stepscope::analyze
