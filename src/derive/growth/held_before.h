// What a program held before its recording began, where the allocator's records do not say.
#pragma once

#include <string>

#include "derive/growth/memory_plan.h"

namespace stepscope::derive {

/// State that an optimizer keeps, per byte of its parameters: AdamW 2. Of its class's name, as in
/// Optimizer.step#AdamW.step. -1: not known. SGD: without momentum.
double state_per_parameter(std::string_view optimizer);

struct Trained {
  std::int64_t bytes = 0;       ///< of the parameters that got a gradient in one backward pass
  DType type = DType::unknown;  ///< of the last of these gradients
  std::string optimizer;        ///< the class of the optimizer that stepped, "" without one
  double state = -1;            ///< that it keeps per byte of parameters; -1: not known
  double more_state = 0;        ///< that it may keep besides, by its options: RMSprop with momentum, centered
};
Trained trained_parameters(const trace::Trace& trace, const trace::Rank& rank);

/// A device's allocator records its total, so everything before the first record is `other`. Records of the
/// host begin at 0: parameters, gradients and optimizer state that the recording did not see made are added,
/// by the gradients' shapes and the optimizer's class.
HeldBefore held_before(const MemoryRecords& records, const std::vector<AllocationGrowth>& growth,
                       const std::vector<MemoryUse>& uses, const Trained& trained);

}  // namespace stepscope::derive
