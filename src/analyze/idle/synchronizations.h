// Every call that made the host wait for the device, and what that wait cost: the idle time it left behind.
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
  std::int64_t cost = report::kNoInt;    ///< idle time in them, after the device's work, and behind them
  std::int64_t refill = report::kNoInt;  ///< of that, behind them
  std::int64_t total = 0;
  std::int64_t busy = report::kNoInt;  ///< of `total`, with device work beside it
  std::int64_t longest = 0;
  std::int64_t bytes = report::kNoInt;  ///< of their copies
};

struct Synchronizations {
  std::vector<Synchronization> calls;  ///< of each rank, most cost first
  std::vector<std::string> notes;
};
Synchronizations synchronizations_of(const Derived& derived);

}  // namespace stepscope::analyze
