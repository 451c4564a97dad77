#include "derive/ranks/step_parts.h"

#include <algorithm>

namespace stepscope::derive {
namespace {

using timeline::Interval;
using timeline::MeasuredSet;

StepPart part_of(IdleCause cause) {
  using enum StepPart;
  constexpr StepPart kParts[kIdleCauses] = {input, sync, host,   alloc,  host,   host,
                                            host,  host, python, python, python, pending};
  return kParts[static_cast<std::size_t>(cause)];
}

timeline::Time& at(PartsOfStep& step, StepPart part) { return step[static_cast<std::size_t>(part)]; }

}  // namespace

StepParts step_parts(const DeviceBusy& device, const Column<IdlePiece>& pieces,
                     const std::vector<Interval>& steps) {
  std::vector<PartsOfStep> parts(steps.size());
  if (steps.empty()) return {};
  const timeline::IntervalSet busy[] = {device.compute, device.communication, device.copy};
  const auto owned = timeline::partition({steps.front().begin, steps.back().end}, busy);
  const MeasuredSet compute(owned[0]), communication(owned[1]), copy(owned[2]);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    at(parts[k], StepPart::compute) = compute.length_in(steps[k]);
    at(parts[k], StepPart::transfer) = communication.length_in(steps[k]);
    at(parts[k], StepPart::copy) = copy.length_in(steps[k]);
  }
  for (const IdlePiece& piece : pieces) {
    auto k = static_cast<std::size_t>(
        std::upper_bound(steps.begin(), steps.end(), piece.span.begin,
                         [](timeline::Time t, const Interval& step) { return t < step.end; }) -
        steps.begin());
    for (; k < steps.size() && steps[k].begin < piece.span.end; ++k)
      at(parts[k], part_of(piece.cause)) += overlap(piece.span, steps[k]);
  }
  return {std::move(parts), owned[1]};
}

void tell_waits(std::vector<PartsOfStep>& parts, const timeline::IntervalSet& communication,
                const timeline::IntervalSet& waits, const std::vector<Interval>& steps) {
  const MeasuredSet waiting(intersect(communication, waits));
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const timeline::Time wait = waiting.length_in(steps[k]);
    at(parts[k], StepPart::wait) += wait;
    at(parts[k], StepPart::transfer) -= wait;
  }
}

}  // namespace stepscope::derive
