#include "analyze/memory/plan_wishes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "derive/roof/peaks.h"
#include "report/table.h"

namespace stepscope::analyze {

PlanWishes::PlanWishes(const report::Params& params)
    : batch(params.integer("batch")),
      sequence(params.integer("sequence")),
      to_batch(params.integer("to-batch")),
      to_sequence(params.integer("to-sequence")),
      precision(params.text("precision", "recorded")),
      optimizer(params.text("optimizer")),
      checkpoint(params.text("checkpoint")) {}

std::vector<std::string_view> PlanWishes::checkpointed() const {
  std::vector<std::string_view> names;
  for (std::string_view rest = checkpoint; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    if (end > 0) names.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

std::int64_t wanted_capacity(std::string_view text, std::vector<std::string>& notes) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && number > 0) {
    std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    for (const auto& [name, bytes] : {std::pair{"MiB", 0x1p20},
                                      {"M", 0x1p20},
                                      {"GiB", 0x1p30},
                                      {"G", 0x1p30},
                                      {"MB", 1e6},
                                      {"GB", 1e9},
                                      {"B", 1.0}})
      if (unit == name && number * bytes < 0x1p60) return std::llround(number * bytes);
  } else if (const auto peaks = derive::peaks_of(text); peaks && peaks->memory > 0) {
    return std::llround(peaks->memory);
  }
  notes.push_back(
      fmt::format("--fit-into {} is no size such as 24GiB, and no device whose memory is known.", text));
  return report::kNoInt;
}

derive::PlanChange wished_change(const PlanWishes& wishes, const derive::Trained& trained,
                                 std::vector<std::string>& notes) {
  derive::PlanChange change;
  const bool halves = wishes.half() && trained.type == derive::DType::float32;
  if (halves) {
    change.weights = {0.5, 0.5};
    change.optimizer_state = change.optimizer_temporaries = {0.5, 0.5};
  }
  if (wishes.half()) {
    change.floats = {0.5, 0.75};
    notes.emplace_back(
        "Half precision: weights, gradients and optimizer state in fp32 take half; other numbers between "
        "half and three "
        "quarters, as libraries compute some results in fp32.");
  } else if (wishes.precision == "amp") {
    change.floats = {0.5, 1};
    change.more_high = 0.5 * static_cast<double>(trained.bytes);
    notes.emplace_back(
        "Autocast: weights, gradients and optimizer state stay as they are; activations take between half "
        "and all, and copies of the weights in half precision up to half of theirs.");
  }
  if (wishes.optimizer.empty()) return change;
  const double state = derive::state_per_parameter(wishes.optimizer);
  if (state < 0 || trained.bytes == 0) {
    notes.push_back(state < 0
                        ? fmt::format("--optimizer {}: its state is not known; try SGD, SGDMomentum, AdamW, "
                                      "AdamW8bit, Lion or Adagrad.",
                                      wishes.optimizer)
                        : "No gradients are recorded, so --optimizer changes nothing.");
    return change;
  }
  const double scale = halves ? 0.5 : 1;
  if (trained.state > 0) {
    change.optimizer_state = {scale * state / trained.state, scale * state / trained.state};
  } else {
    const double more = scale * state * static_cast<double>(trained.bytes);
    change.more_low += more;
    change.more_high += more;
  }
  change.optimizer_temporaries = {0, 1};
  return change;
}

}  // namespace stepscope::analyze
