// Rules of loops (H): many small operators or calls where one would do.
#include <fmt/format.h>

#include <algorithm>

#include "advise/places.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/rules/on_cpu.h"
#include "advise/say.h"
#include "advise/see.h"
#include "base/text.h"
#include "report/names.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Unit;

/// The loop with the largest `idle`, among those without a rule of their own that launch short kernels and do
/// not wait in every round.
const analyze::OpLoop* dearest_loop(const Evidence& e, std::int64_t analyze::OpLoop::* idle) {
  const analyze::OpLoop* dearest = nullptr;
  for (const analyze::OpLoop* loop : e.mine(e.reports().launches.loops, "Loops of operators")) {
    if (has_own_rule(loop->unit, loop->parent, loop->region) || loop->events < loop->times ||
        loop->median >= kTinyKernel || loop->waits >= loop->times ||
        loop->device > kLayerWork * loop->times ||
        (idle == &analyze::OpLoop::pauses &&
         static_cast<double>(loop->pauses) < kPausesOfLoop * static_cast<double>(loop->device)))
      continue;
    if (dearest == nullptr || loop->*idle > dearest->*idle) dearest = loop;
  }
  return dearest;
}

std::optional<Claim> repeated_ops(const Evidence& e, Bound bound) {
  if (bound == Bound::host_only) return repeated_ops_on_cpu(e);
  if (bound != Bound::host && bound != Bound::mixed && bound != Bound::device) return std::nullopt;
  const auto lost = bound == Bound::device ? &analyze::OpLoop::pauses : &analyze::OpLoop::idle;
  const analyze::OpLoop* const loop = dearest_loop(e, lost);
  if (loop == nullptr || e.share(loop->*lost) < kLoopShare) return std::nullopt;
  const std::int64_t rounds = loop->times / loop->loops, idle = loop->*lost;
  const std::string place = loop->source.empty() ? "" : " at " + placed(loop->source);
  const std::string unit = report::short_name(loop->unit, 60);
  Claim f =
      claim(e, RuleId::H05,
            fmt::format("A loop of {} × {}{} launches {} device events per step where a few would do",
                        format_value(rounds, Unit::count), unit, place,
                        format_value(std::max<std::int64_t>(1, loop->events / e.steps()), Unit::count)));
  const double left = 2 / static_cast<double>(std::max<std::int64_t>(rounds, 3));
  save(f, (idle + loop->device) / e.steps(), kLoopPessimism, 1 - left);
  f.ideal = {scale_of(Scale::What::loop, loop->unit, left)};
  f.mild = {scale_of(Scale::What::loop, loop->unit, kLoopPessimism)};
  f.shortens_kernels = true;
  f.claimed = static_cast<std::int64_t>(static_cast<double>(idle / e.steps()) * (1 - left));
  f.confidence = Confidence::medium;
  f.because = fmt::format(
      "the same operators repeat inside {}, and half of the events that they launch are shorter than {}",
      loop->parent.empty() ? "one range" : report::short_name(loop->parent, 60), ns(loop->median + 1));
  f.evidence = {see::launches(fmt::format("loops of operators; {}, the device idles for {} of it",
                                          per_step(e, loop->host), ns(idle / e.steps())))};
  f.remedy = fmt::format(
      "Replace the loop{} by one operator on a larger tensor: torch.stack and a batched operator, indexing "
      "with a tensor, torch.vmap, torch._foreach_*, or torch.compile.",
      place);
  f.verify = "The loop is gone from `stepscope show launches`.";
  f.effort = Effort::code;
  return f;
}

std::optional<Claim> many_queries(const Evidence& e, Bound) {
  constexpr std::string_view kQueries[] = {"GetDeviceProperties", "GetAttribute", "EventQuery", "StreamQuery",
                                           "FuncGetAttributes",   "Occupancy",    "GetDevice"};
  for (const analyze::RuntimeCalls* calls :
       e.mine(e.reports().launches.other_calls, "Other calls of the runtime by name")) {
    const bool query = std::any_of(std::begin(kQueries), std::end(kQueries),
                                   [&](std::string_view part) { return has(calls->name, part); });
    if (!query || calls->count < e.fact(&Facts::kernels) || e.share(calls->total) < kQueryShare) continue;
    Claim f = claim(e, RuleId::H06,
                    fmt::format("{} calls of {} per step take {} of host time",
                                format_value(calls->count / e.steps(), Unit::count), calls->name,
                                ns(calls->total / e.steps())));
    save(f, calls->total / e.steps(), kQueryPessimism, 1);
    f.ideal = {scale_of(Scale::What::host, calls->name, 0)};
    f.pessimism = kQueryPessimism;
    f.confidence = Confidence::medium;
    f.because = "it is called at least once per kernel";
    f.evidence = {see::launches("other calls of the runtime")};
    f.remedy = fmt::format(
        "Find the operator that calls {} (`stepscope show call_tree`): cache the answer, poll less often, or "
        "upgrade its library.",
        calls->name);
    f.verify = "Fewer such calls than kernels.";
    f.effort = Effort::code;
    return f;
  }
  return std::nullopt;
}

constexpr Rule kLoopRules[] = {
    {RuleId::H05, "a loop launches many small kernels", true, repeated_ops,
     R"(Looks at: *Loops of operators* of `launches`: 1 to 8 operators that repeat at least 10 times in a row inside
one range. Fires for the loop with most `idle`, when the program is host-bound or mixed, each round launches
something, half of these events are shorter than kTinyKernel, the device works for at most kLayerWork per
round, and it idles there for at least kLoopShare of the window. When the program is device-bound, `pauses`
replace `idle` and are at least kPausesOfLoop of the device's work there: launching early does not shorten the
pause before each kernel.

Saving: replay with `kLoopPessimism` of the loop's rounds (low end) to two of them (high end), with what they
launch.

Without a device: the loop with most `host` time, at least kLoopShare of the window, with at most kLayerWork
per round and more rounds than a step has parameters with gradients, as each layer has at least one. Saving:
from kLoopPessimism of that time minus what recording cost, to all but two rounds of it minus kSureRecording
of that cost, or of all short operators of the line, with their backward pass, if Python stacks name it.

Silent on: layers of a model, whose rounds differ or run longer kernels; loops that wait in each round (S01,
S03); optimizer, zero_grad, and the buckets and broadcasts of data parallelism, which have rules of their own;
loops that launch nothing.)"},
    {RuleId::H06, "the same runtime query is repeated again and again", true, many_queries,
     R"(Looks at: *Other calls of the runtime by name* of `launches`: queries of properties, attributes,
events, streams and occupancy. Fires for a query with at least one call per kernel and kQueryShare of the
window.

Saving: replay without these calls; the low end is kQueryPessimism of it.

Silent on: large counts that cost nothing.)"},
};

}  // namespace

std::span<const Rule> loop_rules() { return kLoopRules; }

}  // namespace stepscope::advise
