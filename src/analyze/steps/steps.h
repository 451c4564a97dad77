// Where each step's time went: every nanosecond of a step has one role, so the parts add up to the step.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "analyze/derived.h"
#include "analyze/steps/step_pace.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// How an instant of a step was spent. If several roles hold at one instant, the first in this order counts.
enum class StepRole : std::uint8_t {
  kernel,
  communication,
  memcpy,
  memset,
  runtime,
  data_loader,
  cpu_exec,
  other
};
inline constexpr std::size_t kStepRoles = 8;
/// The columns' order, which readers of the JSON rely on: copies before communication.
inline constexpr std::array<StepRole, kStepRoles> kStepColumns = {
    StepRole::kernel,  StepRole::memcpy,      StepRole::memset,   StepRole::communication,
    StepRole::runtime, StepRole::data_loader, StepRole::cpu_exec, StepRole::other};
std::string_view name_of(StepRole role);

/// One step. Times in ns; `host_start`, `host_end` and `device_end` count from the first event of the file.
struct StepTime {
  std::int64_t rank = -1;
  std::int64_t number = report::kNoInt;          ///< kNoInt: no step is marked, this is the whole recording
  std::array<std::int64_t, kStepRoles> parts{};  ///< by StepRole
  std::int64_t total = 0;                        ///< the sum of `parts`
  std::int64_t host_start = 0, host_end = 0;     ///< of the step's mark
  std::int64_t device_end = report::kNoInt;      ///< kNoInt: the step launched nothing
  std::int64_t device_length = report::kNoInt;   ///< `device_end` minus the previous step's
  StepPace pace;
  bool cut_off = false;  ///< the recording ended in this step

  std::string name() const { return number == report::kNoInt ? "all" : std::to_string(number); }
  std::int64_t part(StepRole role) const { return parts[static_cast<std::size_t>(role)]; }
  std::int64_t length(bool on_device) const { return on_device ? device_length : total; }
};

/// What grew in a long step: a role of the step, or an op's self time on the host.
enum class StepLane : std::uint8_t { step, host };
std::string_view name_of(StepLane lane);

/// Times in ns.
struct StepOutlier {
  std::int64_t rank, step;
  StepLane lane;
  std::string what;
  std::int64_t time, median_time;  ///< in this step, in the median step
  std::int64_t growth() const { return time - median_time; }
};

struct Steps {
  std::vector<StepTime> steps;
  std::vector<StepOutlier> outliers;
  std::vector<std::string> notes;
};
Steps steps_of(const Derived& derived);
/// Merges the answers of single ranks. Notes of ranks without rows are dropped if other ranks have rows.
Steps joined(std::vector<Steps> of_ranks);
report::Report printed(Steps of, bool several_ranks);

/// "Average step": the mean of the steps that are not cut off; nullopt if there are none.
std::optional<report::Table> average_step(const std::vector<StepTime>& steps);

}  // namespace stepscope::analyze
