// Roles of time in the plugin's step breakdown, by priority.
#pragma once

#include <array>
#include <vector>

#include "analyze/tb/events.h"
#include "analyze/tb/window.h"
#include "timeline/interval.h"

namespace stepscope::analyze::tb {

enum Role : std::size_t {
  kKernel,
  kMemcpy,
  kMemset,
  kCommunication,
  kRuntime,
  kDataLoader,
  kCpuExec,
  kOther,
  kTotal
};
inline constexpr std::array<const char*, 9> kRoleNames = {
    "kernel", "memcpy", "memset", "communication", "runtime", "data_loader", "cpu_exec", "other", "total"};
/// Nanoseconds by role.
using Costs = std::array<std::int64_t, kRoleNames.size()>;

/// One row per step of `windows`.
std::vector<Costs> step_costs(const Events& events, const StepWindows& windows);

/// Sums of step costs; divide by the number of steps for the plugin's average.
Costs sum_of(const std::vector<Costs>& costs);

}  // namespace stepscope::analyze::tb
