// Steps that took much longer than the others, e.g. because a checkpoint was written in them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/question.h"
#include "base/median.h"
#include "timeline/interval.h"

namespace stepscope::analyze {

inline constexpr std::ptrdiff_t kStepsToCompare = 5;     ///< fewer have no spread
inline constexpr double kLongSpreads = 3.5 * kOfNormal;  ///< times the median distance from the median
inline constexpr double kLongShare = 0.10;               ///< of the median

/// What a length must exceed to be long: the median, and beyond it kLongSpreads and kLongShare. kNoInt with
/// fewer than kStepsToCompare lengths.
std::int64_t longest_usual(std::span<const std::int64_t> lengths);

/// The chosen complete steps of a rank, without the long ones if these are at most a fifth: more belong to
/// the loop.
struct TypicalSteps {
  std::vector<bool> counted;             ///< by index into Rank::steps
  std::vector<std::size_t> left_out;     ///< indices of the long steps
  std::int64_t median = report::kNoInt;  ///< device length of all chosen steps, ns
  timeline::IntervalSet spans;           ///< the window without the long steps
};
TypicalSteps typical_steps(const trace::Rank& rank, const StepChoice& choice);

}  // namespace stepscope::analyze
