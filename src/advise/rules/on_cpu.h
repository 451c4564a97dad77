// The forms that rules take where no device is recorded: operators compute then, and what the main thread
// does is the step.
#pragma once

#include <optional>

#include "advise/evidence.h"
#include "advise/finding.h"

namespace stepscope::advise {

/// No device's runtime is called and ranks talk over no device's backend: it was not meant to run there.
bool computes_on_cpu(const Evidence& evidence);

std::optional<Finding> optimizer_on_cpu(const Evidence& evidence);         // H03
std::optional<Finding> zero_fill_on_cpu(const Evidence& evidence);         // H04
std::optional<Finding> repeated_ops_on_cpu(const Evidence& evidence);      // H05
std::optional<Finding> pointwise_on_cpu(const Evidence& evidence);         // K01
std::optional<Finding> double_precision_on_cpu(const Evidence& evidence);  // P03
std::optional<Finding> many_collectives_on_cpu(const Evidence& evidence);  // N02
std::optional<Finding> waiting_for_rank_on_cpu(const Evidence& evidence);  // N05
std::optional<Finding> late_reduction_on_cpu(const Evidence& evidence);    // N06

}  // namespace stepscope::advise
