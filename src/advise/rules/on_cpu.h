// Forms of rules for recordings without a device: there the CPU computes, and the main thread's work is the
// step.
#pragma once

#include <optional>

#include "advise/claim.h"
#include "advise/evidence.h"

namespace stepscope::advise {

/// Whether the program was meant for the CPU: it launches nothing on a device, and its backend is gloo, mpi
/// or none.
bool computes_on_cpu(const Evidence& evidence);

std::optional<Claim> optimizer_on_cpu(const Evidence& evidence);         // H03
std::optional<Claim> zero_fill_on_cpu(const Evidence& evidence);         // H04
std::optional<Claim> repeated_ops_on_cpu(const Evidence& evidence);      // H05
std::optional<Claim> pointwise_on_cpu(const Evidence& evidence);         // K01
std::optional<Claim> double_precision_on_cpu(const Evidence& evidence);  // P03
std::optional<Claim> many_collectives_on_cpu(const Evidence& evidence);  // N02
std::optional<Claim> waiting_for_rank_on_cpu(const Evidence& evidence);  // N05
std::optional<Claim> late_reduction_on_cpu(const Evidence& evidence);    // N06

}  // namespace stepscope::advise
