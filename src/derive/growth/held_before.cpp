#include "derive/growth/held_before.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "derive/phases.h"
#include "derive/work/op_args.h"

namespace stepscope::derive {
namespace {

using timeline::Interval;
using timeline::Time;
using trace::Kind;
using trace::Row;

constexpr std::string_view kStep = "Optimizer.step#";

struct StateOf {
  std::string_view optimizer;
  double bytes;
};
/// By the state tensors that each keeps per parameter; 8-bit forms keep a byte per element of 4 bytes.
constexpr StateOf kStates[] = {
    {"SGD", 0},         {"Adam", 2},       {"AdamW", 2},       {"NAdam", 2},      {"RAdam", 2}, {"Adamax", 2},
    {"Adadelta", 2},    {"Adagrad", 1},    {"RMSprop", 1},     {"Rprop", 2},      {"ASGD", 1},  {"LAMB", 2},
    {"Lamb", 2},        {"FusedAdam", 2},  {"FusedLAMB", 2},   {"FusedSGD", 1},   {"Lion", 1},  {"Muon", 1},
    {"AdamW8bit", 0.5}, {"Adam8bit", 0.5}, {"Lion8bit", 0.25}, {"SGDMomentum", 1}};

/// Share of a known sum from which on it counts as recorded.
constexpr double kSeen = 0.9;
/// Buffers of a model, such as running means, take at most this share of its parameters and their state
/// (chosen).
constexpr double kBuffers = 0.01;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::int64_t missing(double expected, std::int64_t seen) {
  return static_cast<double>(seen) >= kSeen * expected ? 0 : std::llround(expected) - seen;
}

}  // namespace

double state_per_parameter(std::string_view optimizer) {
  const auto same = [&](const StateOf& of) {
    return std::ranges::equal(of.optimizer, optimizer, [](char a, char b) { return lower(a) == lower(b); });
  };
  const auto* const found = std::ranges::find_if(kStates, same);
  return found == std::end(kStates) ? -1 : found->bytes;
}

Trained trained_parameters(const trace::Trace& trace, const trace::Rank& rank) {
  Trained out;
  const trace::EventTable& e = rank.events;
  const trace::ArgReader dims(trace, rank, "Input Dims"), types(trace, rank, "Input type");
  const PhaseTimes phases =
      phase_times(trace, rank, {std::numeric_limits<Time>::min() / 2, std::numeric_limits<Time>::max() / 2});
  const auto passes = phases[static_cast<std::size_t>(Phase::backward)].parts();
  std::map<std::size_t, std::int64_t> by_pass;
  const trace::StringId gradient = trace.strings.find("torch::autograd::AccumulateGrad");
  bool multiplies = false;  // in a step: SGD then has momentum
  bool compares = false;    // likewise: Adam then has amsgrad
  for (const Row row : rank.host_rows()) {
    if (e.kind[row] == Kind::op && e.name[row] == gradient) {
      const auto pass = std::ranges::upper_bound(passes, e.start[row], {}, &Interval::begin);
      const OpArgs args = parse_op_args(dims.text(row), types.text(row), {}, {});
      if (!args.at(0).is_tensor()) continue;
      const Amount bytes = bytes_of(numel(args.at(0).shape), args.at(0).dtype);
      by_pass[static_cast<std::size_t>(pass - passes.begin())] += bytes.value();
      out.type = args.at(0).dtype;
    }
    const std::string_view name = trace.name(rank, row);
    if (is_host_range(e.kind[row]) && name.starts_with(kStep)) {
      out.optimizer = name.substr(kStep.size(), name.find('.', kStep.size()) - kStep.size());
    } else if (const bool multiplying = name == "aten::mul_" || name == "aten::_foreach_mul_";
               multiplying || name.starts_with("aten::maximum") ||
               name.starts_with("aten::_foreach_maximum")) {
      for (Row up = e.parent[row]; up != trace::kNoRow; up = e.parent[up])
        (multiplying ? multiplies : compares) |= trace.name(rank, up).starts_with(kStep);
    }
  }
  for (const auto& [pass, bytes] : by_pass) out.bytes = std::max(out.bytes, bytes);
  out.state = out.optimizer == "SGD" && multiplies ? 1 : state_per_parameter(out.optimizer);
  if (out.optimizer.starts_with("Adam") && compares) ++out.state;
  if (out.optimizer == "RMSprop") out.more_state = 2;
  return out;
}

HeldBefore held_before(const MemoryRecords& records, const std::vector<AllocationGrowth>& growth,
                       const std::vector<MemoryUse>& uses, const Trained& trained) {
  HeldBefore out;
  if (records.size() == 0) return out;
  if (records.has_totals() && !records.device.host()) {
    out.other = records.allocated[0] - records.bytes[0];
    return out;
  }
  std::int64_t parameters = 0, state = 0, gradients = 0;
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (records.bytes[i] <= 0) continue;
    if (uses[i] == MemoryUse::parameter) parameters += records.bytes[i];
    if (uses[i] == MemoryUse::optimizer_state) state += records.bytes[i];
    if (uses[i] == MemoryUse::gradient && growth[i].is_parameter) gradients += records.bytes[i];
  }
  out.parameters = missing(static_cast<double>(trained.bytes), parameters);
  out.gradients = missing(static_cast<double>(trained.bytes), gradients);
  if (trained.state > 0)
    out.optimizer_state = missing(trained.state * static_cast<double>(trained.bytes), state);
  if (trained.more_state > 0 && out.optimizer_state > 0)
    out.more_state = std::llround(trained.more_state * static_cast<double>(trained.bytes));
  out.buffers = std::llround(kBuffers * static_cast<double>(out.parameters + out.optimizer_state));
  return out;
}

}  // namespace stepscope::derive
