// Rules of too many calls (H03, H04, H05) for recordings without a device.
#include <fmt/format.h>

#include <algorithm>

#include "advise/cite.h"
#include "advise/own_places.h"
#include "advise/places.h"
#include "advise/rules/constants.h"
#include "advise/rules/on_cpu.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/names.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Unit;

/// Saves `low` to `high` of a host time in the window. The cost of recording is subtracted first: all of it
/// at the low end, kSureRecording of it at the high end.
void save_recorded(Claim& f, const Evidence& e, std::int64_t time, std::int64_t recording, double low,
                   double high) {
  const std::int64_t least = std::max<std::int64_t>(0, time - recording);
  const auto most =
      time - static_cast<std::int64_t>(kSureRecording * static_cast<double>(std::min(recording, time)));
  save(f, most / e.steps(), 0, high);
  f.saving_low = static_cast<std::int64_t>(low * static_cast<double>(least)) / e.steps();
}

std::string with_recording(const Evidence& e, std::int64_t recording) {
  return fmt::format("; recording cost about {} of it", ns(recording / e.steps()));
}

}  // namespace

bool computes_on_cpu(const Evidence& e) {
  const std::string_view backend = e.backend();
  return e.fact(&Facts::launches) == 0 && (backend.empty() || backend == "gloo" || backend == "mpi");
}

std::optional<Claim> optimizer_on_cpu(const Evidence& e) {
  const analyze::Launched& steps = e.launched_in("Optimizer.step#");
  if (!computes_on_cpu(e) || steps.ranges == 0 || steps.ops < kManyLaunches * steps.ranges ||
      steps.host >= kShortKernel * steps.ops || e.share(steps.host) < kOptimizerShare)
    return std::nullopt;
  Claim f =
      claim(e, RuleId::H03,
            fmt::format("The optimizer calls {} operators per step, {} each on average",
                        format_value(steps.ops / steps.ranges, Unit::count), ns(steps.host / steps.ops)) +
                needless_groups(e));
  save_recorded(f, e, steps.host, steps.recording, kMultiTensorOnCpuLeast, kMultiTensorMost);
  f.confidence = Confidence::high;
  f.because = "such short operators take longer to call than to compute";
  f.evidence = {see::call_tree(
      fmt::format("Optimizer.step, {}{}", per_step(e, steps.host), with_recording(e, steps.recording)))};
  f.remedy = merged_groups(e) + all_at_once(steps.name);
  f.verify = "A few operators in Optimizer.step, with _fused or _foreach in their names.";
  return f;
}

std::optional<Claim> zero_fill_on_cpu(const Evidence& e) {
  const analyze::Launched& fills = e.launched_in("Optimizer.zero_grad#");
  if (!computes_on_cpu(e) || fills.ranges == 0 || fills.ops < kManyFills * fills.ranges) return std::nullopt;
  Claim f = claim(e, RuleId::H04,
                  fmt::format("zero_grad writes zeros with {} operators per step",
                              format_value(fills.ops / fills.ranges, Unit::count)));
  save_recorded(f, e, fills.host, fills.recording, kZeroFillPessimism, kZeroFillMost);
  f.confidence = Confidence::high;
  f.because = "gradients set to None need no fills";
  f.evidence = {see::call_tree(
      fmt::format("Optimizer.zero_grad, {}{}", per_step(e, fills.host), with_recording(e, fills.recording)))};
  f.remedy =
      "optimizer.zero_grad(set_to_none=True), the default since PyTorch 2.0: delete set_to_none=False. Not "
      "if code reads .grad as zeros.";
  f.verify = "No fills below Optimizer.zero_grad.";
  return f;
}

namespace {

/// The longest loop of short operators that no other rule covers and that is not a model's layers.
const analyze::OpLoop* dearest_loop(const Evidence& e) {
  const std::int64_t parameters = e.launched_in(kAccumulate).ranges / e.steps();
  const analyze::OpLoop* dearest = nullptr;
  for (const analyze::OpLoop* loop : e.mine(e.reports().launches.loops, "Loops of operators")) {
    if (loop->parent.starts_with("aten::") ||      // a loop inside an operator is not the program's
        loop->region.starts_with(kLoaderRange) ||  // I01 names its line
        has_own_rule(loop->unit, loop->parent, loop->region) || loop->times / loop->loops <= parameters ||
        loop->host > kLayerWork * loop->times)
      continue;
    if (dearest == nullptr || loop->host > dearest->host) dearest = loop;
  }
  return dearest;
}

}  // namespace

std::optional<Claim> repeated_ops_on_cpu(const Evidence& e) {
  const analyze::OpLoop* const loop = computes_on_cpu(e) ? dearest_loop(e) : nullptr;
  if (loop == nullptr || e.share(loop->host) < kLoopShare) return std::nullopt;
  const std::int64_t host = loop->host, rounds = loop->times / loop->loops;
  const auto line = loop->source.empty() ? dearest_place(e, &analyze::LineNode::calling) : std::nullopt;
  const std::string place = line                   ? " at " + line->spoken()
                            : loop->source.empty() ? ""
                                                   : " at " + placed(loop->source);
  Claim f =
      claim(e, RuleId::H05,
            fmt::format("A loop of {} × {}{} takes {}, {} per round", format_value(rounds, Unit::count),
                        report::short_name(loop->unit, 60), place, of_step(e, host), ns(host / loop->times)));
  const double left = 2 / static_cast<double>(std::max<std::int64_t>(rounds, 3));
  save_recorded(f, e, host, loop->recording, kLoopPessimism, 1 - left);
  if (line)
    f.saving_high = std::max(
        f.saving_high, static_cast<std::int64_t>((1 - left) * static_cast<double>(line->cost)) / e.steps());
  f.confidence = Confidence::medium;
  f.because = "the same operators repeat, and calling them costs as much as their work";
  f.evidence = {
      see::launches("loops of operators, " + per_step(e, host) + with_recording(e, loop->recording))};
  f.remedy = fmt::format(
      "Replace the loop{} by one operator on a larger tensor: torch.stack and a batched operator, indexing "
      "with a tensor, torch.vmap, torch._foreach_*, or torch.compile.",
      place);
  f.verify = "The loop is gone from `stepscope show launches`.";
  f.line = line ? line->line->line : loop->source;
  f.vague = place.empty();
  f.effort = Effort::code;
  return f;
}

}  // namespace stepscope::advise
