// Calls that make the host wait for the device, and their cost: the idle time that they cause.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/kernel_class.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// Calls of one name, operator, copy and source line that waited. Times in ns; `cost`, `refill` and `busy`
/// are report::kNoInt without device work.
struct Synchronization {
  std::int64_t rank = -1;
  std::string call, op, copy, source;  ///< "" for none
  derive::CopyDirection direction{};   ///< of the copy
  std::int64_t count = 0;
  std::int64_t cost = report::kNoInt;    ///< idle time from the last device work to the return, plus `refill`
  std::int64_t refill = report::kNoInt;  ///< idle time from the return until device work starts
  std::int64_t total = 0;
  std::int64_t busy = report::kNoInt;  ///< of `total`, while device work runs
  std::int64_t longest = 0;
  std::int64_t bytes = report::kNoInt;  ///< bytes of their copies
};

struct Synchronizations {
  std::vector<Synchronization> calls;  ///< per rank, most cost first
  std::vector<std::string> notes;
};
Synchronizations synchronizations_of(const Derived& derived);

}  // namespace stepscope::analyze
