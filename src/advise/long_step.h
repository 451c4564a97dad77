// The step that took longest, if it took much longer than the others, and what grew in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "advise/evidence.h"
#include "report/verdict.h"

namespace stepscope::advise {

/// Times in ns.
struct LongStep {
  std::string name;          ///< of the step
  std::int64_t number = 0;   ///< of the step
  std::int64_t length = 0;   ///< on the device, or on the host if no device is recorded
  std::int64_t median = 0;   ///< of all steps
  report::Moment at;         ///< where the host ran it
  std::int64_t beyond = 0;   ///< what all long steps take beyond the median, spread over all steps
  analyze::StepRole role{};  ///< the part that grew most
  std::string grown;         ///< "compute kernels grew by 3 ms"
  const analyze::SlowRank* late = nullptr;  ///< the rank that took longer in this step than the others
};

/// The first and the last step do not count: they border on unrecorded time. `device`: device work is
/// recorded.
std::optional<LongStep> longest_step(const Evidence& evidence, bool device);

/// True if the rank only waited for `late` in this step.
bool only_waited(const LongStep& step, std::int64_t rank);

/// What grew, and who waited for whom: "communication that nothing hides grew by 30 ms, as rank 3 took 29.8
/// ms longer, for loading data".
std::string why_longer(const LongStep& step, std::int64_t rank);

}  // namespace stepscope::advise
