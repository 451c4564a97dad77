// Kernels grouped by name, or by name, op and launch properties.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/question.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// Kernels with equal keys form one group. When grouping by name only, the other members stay empty.
struct KernelKey {
  trace::StringId name = trace::kEmptyString, op = trace::kEmptyString, grid = trace::kEmptyString,
                  block = trace::kEmptyString;
  std::int64_t registers = report::kNoInt, shared_memory = report::kNoInt;
  friend bool operator==(const KernelKey&, const KernelKey&) = default;
};

/// Mean of a recorded arg over the events that have it, weighted by duration.
struct WeightedMean {
  double sum = 0, weight = 0;
  void add(std::optional<double> value, std::int64_t duration) {
    if (!value || !std::isfinite(*value) || *value < 0) return;
    sum += *value * static_cast<double>(duration);
    weight += static_cast<double>(duration);
  }
  double mean() const { return weight > 0 ? sum / weight : report::kNoReal; }
};

struct KernelGroup {
  KernelKey key;
  std::vector<std::int64_t> durations;
  std::int64_t total = 0, small = 0;  ///< ns; `small`: of kernels with fewer blocks than multiprocessors
  WeightedMean blocks_per_sm, occupancy;

  std::int64_t count() const { return static_cast<std::int64_t>(durations.size()); }
};

enum class KernelsBy : std::uint8_t { name, properties };

/// The rank's kernels in the chosen steps, longest total first.
std::vector<KernelGroup> kernel_groups(const trace::Trace& trace, const trace::Rank& rank,
                                       const StepChoice& choice, KernelsBy by);

}  // namespace stepscope::analyze
