#include "advise/pricing/savings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/health.h"
#include "advise/rules/constants.h"
#include "base/median.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::advise {
namespace {

using analyze::ReplayedRank;
using report::kNoInt;

}  // namespace

std::int64_t part(std::int64_t time, double share) {
  return static_cast<std::int64_t>(static_cast<double>(time) * share);
}

bool replayable(const ReplayedRank& replayed) {
  return replayed.usable() && replayed.unlinked() <= kMaxUnlinked;
}

std::int64_t most_saving(const Evidence& evidence) {
  return std::max<std::int64_t>(0,
                                evidence.step_length() - evidence.fact(&Facts::compute) / evidence.steps());
}

std::int64_t least_saving(std::int64_t step, double share) { return std::max(kMinSaving, part(step, share)); }

std::int64_t least_saving(const Evidence& evidence) {
  return least_saving(evidence.step_length(), kMinShare);
}

namespace {

/// Lengths of the steps in order, ns: on the device, or on the host if `device` is false.
std::vector<std::int64_t> step_lengths(const Evidence& e, bool device) {
  std::vector<std::int64_t> known;
  for (const analyze::StepTime* step : e.mine(e.reports().steps.steps, "Step time by what the time went to"))
    if (const std::int64_t length = step->length(device); length != kNoInt) known.push_back(length);
  return known;
}

/// The median distance from the median.
std::int64_t spread_of(std::vector<std::int64_t> lengths) {
  const std::int64_t median = report::quantile(lengths, 0.5);
  for (std::int64_t& length : lengths) length = std::abs(length - median);
  return report::quantile(lengths, 0.5);
}

}  // namespace

std::int64_t step_uncertainty(const Evidence& e, bool device) {
  const std::vector<std::int64_t> lengths = step_lengths(e, device);
  if (lengths.size() < 2) return 0;
  return static_cast<std::int64_t>(kTwoRecordings * kOfNormal * static_cast<double>(spread_of(lengths)) /
                                   std::sqrt(static_cast<double>(lengths.size())));
}

std::optional<SlowFirstStep> slow_first_step(const Evidence& evidence, const ReplayedRank& replayed) {
  std::vector<std::int64_t> lengths = step_lengths(evidence, replayed.has_device());
  const auto count = std::ssize(lengths);
  if (count < kStepsToCompare || count != replayed.steps()) return std::nullopt;
  const std::int64_t first = lengths.front();
  if (first <= analyze::longest_usual(lengths)) return std::nullopt;
  return SlowFirstStep{first, report::quantile(lengths, 0.5)};
}

std::int64_t saved_per_step(const ReplayedRank& replayed, const analyze::Change& change, bool without_first) {
  return replayed.saved(change, without_first) / (replayed.steps() - (without_first ? 1 : 0));
}

double unrecorded_pace(const Evidence& evidence) {
  constexpr double kMin = 0.2;  // a cost above 80 % is no estimate
  return std::max(kMin, 1 - recording_share(evidence));
}

std::string limit_behind(const ReplayedRank& replayed, const analyze::Change& change, std::int64_t length,
                         bool without_first) {
  const std::int64_t host =
      replayed.host_alone(change.changes, without_first) / (replayed.steps() - (without_first ? 1 : 0));
  if (static_cast<double>(host) < kNearLimit * static_cast<double>(length)) return "";
  return fmt::format("the host keeps the step at {}", report::format_value(length, report::Unit::ns));
}

}  // namespace stepscope::advise
