#include "derive/phases.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "derive/idle/host_pieces.h"
#include "derive/idle/loading.h"
#include "derive/kernel_class.h"
#include "derive/thread_role.h"
#include "trace/asked_once.h"

namespace stepscope::derive {
namespace {

using timeline::Interval;
using timeline::IntervalSet;
using timeline::Time;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::Trace;

/// What a host range says about the phase that it lies in.
enum class Sign : std::uint8_t {
  none,
  node,
  backward_call,
  optimizer_range,
  optimizer_frame,
  module,
  step_mark,
  collective
};

/// A Python frame is "path/file.py(line): function".
Sign sign_of_frame(std::string_view name) {
  const std::size_t colon = name.rfind(": ");
  const std::size_t line = name.find(".py(");
  if (name.starts_with("nn.Module: ")) return Sign::module;
  if (colon == std::string_view::npos || line == std::string_view::npos) return Sign::none;
  const std::string_view file = name.substr(0, line), function = name.substr(colon + 2);
  if ((file.ends_with("torch/_tensor") && (function == "backward" || function == "Tensor.backward")) ||
      (file.ends_with("torch/autograd/__init__") && (function == "backward" || function == "grad")))
    return Sign::backward_call;
  if (file.find("/optim/") != std::string_view::npos && (function == "step" || function == "zero_grad"))
    return Sign::optimizer_frame;
  return Sign::none;
}

Sign sign_of(std::string_view name) {
  if (is_autograd_node(name)) return Sign::node;
  if (is_step_mark(name)) return Sign::step_mark;
  if (is_host_collective(name)) return Sign::collective;
  if (name.starts_with("Optimizer.step#") || name.starts_with("Optimizer.zero_grad#"))
    return Sign::optimizer_range;
  return sign_of_frame(name);
}

/// The rank's host ranges, sorted by what they say.
struct Signs {
  Column<Interval> nodes, backward_calls, optimizer_ranges, optimizer_frames, models, collectives;
  Column<Time> own_begins;  ///< of the main thread's outermost operators and ranges that are no nodes
};

Signs signs_of(const Trace& trace, const Rank& rank) {
  const EventTable& e = rank.events;
  const auto main = main_thread(trace, rank);
  trace::AskedOnce sign(trace.strings, sign_of);
  Signs signs;
  const std::vector<bool> is_sampled = sampled_tracks(trace, rank);  // their ends are not exact
  std::vector<bool> inside(rank.first_device_row());                 // an operator, or a node of autograd
  for (const Row row : rank.host_rows()) {
    const bool call = e.kind[row] == Kind::runtime || e.kind[row] == Kind::io;
    if (!is_host_range(e.kind[row]) || call || is_sampled[e.track[row]]) continue;
    const Row parent = e.parent[row];
    inside[row] = parent != kNoRow && inside[parent];
    const Interval span{e.start[row], e.end[row]};
    const Sign of = sign(e.name[row]);
    switch (of) {
      case Sign::node:
        signs.nodes.push_back(span);
        break;
      case Sign::backward_call:
        signs.backward_calls.push_back(span);
        break;
      case Sign::optimizer_range:
        signs.optimizer_ranges.push_back(span);
        break;
      case Sign::optimizer_frame:
        signs.optimizer_frames.push_back(span);
        break;
      case Sign::module:
        signs.models.push_back(span);
        break;
      case Sign::collective:
        signs.collectives.push_back(span);
        break;
      case Sign::none:
      case Sign::step_mark:
        break;
    }
    if (main != e.track[row] || e.kind[row] == Kind::python || of == Sign::step_mark) continue;
    if (!inside[row] && of != Sign::node) signs.own_begins.push_back(span.begin);
    if (!inside[row] && e.kind[row] == Kind::op) signs.models.push_back(span);
    inside[row] = inside[row] || e.kind[row] == Kind::op;
  }
  return signs;
}

constexpr Time kPickUp = 100'000;  // ns between two collectives, one after another on the same thread

/// Backward passes: nodes, and the time between two nodes in which the main thread begins nothing of its own.
/// The collectives that a pass begins, such as those of DistributedDataParallel, belong to it as long.
IntervalSet backward_time(const Signs& signs) {
  const IntervalSet of_nodes = IntervalSet::of(signs.nodes);
  Column<Interval> passes = signs.backward_calls;
  auto own = signs.own_begins.begin();
  auto collective = signs.collectives.begin();
  const auto end_of_collectives = [&](const Interval& pass) {
    const auto next = std::lower_bound(own, signs.own_begins.end(), pass.end);
    Time end = pass.end;
    while (collective != signs.collectives.end() && collective->begin < pass.begin) ++collective;
    for (; collective != signs.collectives.end() && collective->begin <= end + kPickUp; ++collective)
      if (next == signs.own_begins.end() || collective->begin < *next) end = std::max(end, collective->end);
    return next == signs.own_begins.end() ? end : std::min(end, *next);
  };
  Interval pass{};
  const auto close = [&] {
    if (pass.length() > 0) passes.push_back({pass.begin, end_of_collectives(pass)});
  };
  for (const Interval& node : of_nodes.parts()) {
    while (own != signs.own_begins.end() && *own < pass.end) ++own;
    const bool goes_on = pass.length() > 0 && (own == signs.own_begins.end() || *own >= node.begin);
    if (!goes_on) {
      close();
      pass = node;
    }
    pass.end = node.end;
  }
  close();
  return IntervalSet::of(std::move(passes));
}

/// Before each pass: from the first operator that it goes through.
IntervalSet forward_time(const IntervalSet& backward, const std::vector<Time>& begins) {
  Column<Interval> spans;
  Time from = begins.empty() ? 0 : begins.front();
  for (const Interval& pass : backward.parts()) {
    const auto begin = std::lower_bound(begins.begin(), begins.end(), from);
    if (begin != begins.end()) spans.push_back({*begin, pass.begin});
    from = pass.end;
  }
  return IntervalSet::of(std::move(spans));
}

}  // namespace

bool is_backward_call(std::string_view frame) { return sign_of_frame(frame) == Sign::backward_call; }

std::string_view name_of(Phase phase) {
  constexpr std::string_view kNames[kPhases] = {"data", "backward", "optimizer", "forward", "other"};
  return kNames[static_cast<std::size_t>(phase)];
}

PhaseTimes phase_times(const Trace& trace, const Rank& rank, Interval window) {
  Signs signs = signs_of(trace, rank);
  std::sort(signs.own_begins.begin(), signs.own_begins.end());
  std::sort(signs.collectives.begin(), signs.collectives.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  const IntervalSet backward = backward_time(signs);
  const IntervalSet by_priority[] = {
      loading_time(trace, rank), backward,
      IntervalSet::of(
          std::move(signs.optimizer_ranges.empty() ? signs.optimizer_frames : signs.optimizer_ranges)),
      backward.empty() ? IntervalSet::of(std::move(signs.models))
                       : forward_time(backward, forward_begins(trace, rank))};
  std::vector<IntervalSet> parts = timeline::partition(window, by_priority);
  PhaseTimes times;
  std::move(parts.begin(), parts.end(), times.begin());
  return times;
}

PhaseAt::PhaseAt(const PhaseTimes& times) {
  Time end = 0;
  for (std::size_t p = 0; p < kPhases; ++p)
    for (const Interval& part : times[p].parts()) {
      begins_.push_back({part.begin, static_cast<Phase>(p)});
      end = std::max(end, part.end);
    }
  std::sort(begins_.begin(), begins_.end(), [](const Begin& a, const Begin& b) { return a.at < b.at; });
  begins_.push_back({end, Phase::other});
}

Phase PhaseAt::operator()(Time time) const {
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), time,
                                      [](Time t, const Begin& begin) { return t < begin.at; });
  return after == begins_.begin() ? Phase::other : (after - 1)->phase;
}

}  // namespace stepscope::derive
