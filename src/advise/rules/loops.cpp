// Rules of loops (H): many small operators or calls where one would do.
#include <fmt/format.h>

#include <algorithm>

#include "advise/places.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/rules/on_cpu.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/names.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Table;
using report::Unit;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::optional<Claim> repeated_ops(const Evidence& e, Bound bound) {
  if (bound == Bound::host_only) return repeated_ops_on_cpu(e);
  const Table* loops = table_of(e.reports().launches, "Loops of operators");
  const bool ahead = bound == Bound::device;
  if (loops == nullptr || (bound != Bound::host && bound != Bound::mixed && !ahead)) return std::nullopt;
  const auto text = [&](const char* column, std::size_t row) { return (*texts_of(*loops, column))[row]; };
  const auto number = [&](const char* column, std::size_t row) { return (*ints_of(*loops, column))[row]; };
  const char* const idle_column = ahead ? "pauses" : "idle";
  std::size_t dearest = loops->rows();
  for (std::size_t row = 0; row < loops->rows(); ++row) {
    if (!e.mine(*loops, row) || has_own_rule(text("unit", row), text("parent", row), text("region", row)) ||
        number("events", row) < number("times", row) || number("p50", row) >= kTinyKernel ||
        number("waits", row) >= number("times", row) ||
        number("device", row) > kLayerWork * number("times", row) ||
        (ahead && static_cast<double>(number("pauses", row)) <
                      kPausesOfLoop * static_cast<double>(number("device", row))))
      continue;
    if (dearest == loops->rows() || number(idle_column, row) > number(idle_column, dearest)) dearest = row;
  }
  if (dearest == loops->rows() || e.share(number(idle_column, dearest)) < kLoopShare) return std::nullopt;
  const std::int64_t rounds = number("times", dearest) / number("loops", dearest),
                     idle = number(idle_column, dearest);
  const std::string source = text("source", dearest), place = source.empty() ? "" : " at " + placed(source);
  const std::string unit = report::short_name(text("unit", dearest), 60);
  Claim f = claim(e, RuleId::H05,
                  fmt::format("A loop of {} × {}{} launches {} device events per step where a few would do",
                              format_value(rounds, Unit::count), unit, place,
                              format_value(std::max<std::int64_t>(1, number("events", dearest) / e.steps()),
                                           Unit::count)));
  const double left = 2 / static_cast<double>(std::max<std::int64_t>(rounds, 3));
  save(f, (idle + number("device", dearest)) / e.steps(), kLoopPessimism, 1 - left);
  f.ideal = {scale_of(analyze::Scale::What::loop, text("unit", dearest), left)};
  f.mild = {scale_of(analyze::Scale::What::loop, text("unit", dearest), kLoopPessimism)};
  f.shortens_kernels = true;
  f.claimed = static_cast<std::int64_t>(static_cast<double>(idle / e.steps()) * (1 - left));
  f.confidence = Confidence::medium;
  f.because = fmt::format(
      "the same operators follow each other below {}, and half of what they launch is shorter "
      "than {}",
      text("parent", dearest).empty() ? "one range" : report::short_name(text("parent", dearest), 60),
      ns(number("p50", dearest) + 1));
  f.evidence = {see::launches(fmt::format("loops of operators; {}, the device idle in {} of it",
                                          per_step(e, number("host", dearest)), ns(idle / e.steps())))};
  f.remedy = fmt::format(
      "Replace the loop{} by one operator on a larger tensor: torch.stack and a batched operator, indexing "
      "with a tensor, torch.vmap, torch._foreach_*, or torch.compile.",
      place);
  f.verify = "The loop is gone from `stepscope show launches`.";
  f.effort = Effort::code;
  return f;
}

std::optional<Claim> many_queries(const Evidence& e, Bound) {
  const Table* calls = table_of(e.reports().launches, "Other calls of the runtime");
  if (calls == nullptr) return std::nullopt;
  constexpr std::string_view kQueries[] = {"GetDeviceProperties", "GetAttribute", "EventQuery", "StreamQuery",
                                           "FuncGetAttributes",   "Occupancy",    "GetDevice"};
  for (std::size_t row = 0; row < calls->rows(); ++row) {
    const std::string& name = (*texts_of(*calls, "name"))[row];
    const std::int64_t count = (*ints_of(*calls, "count"))[row], total = (*ints_of(*calls, "total"))[row];
    const bool query = std::any_of(std::begin(kQueries), std::end(kQueries),
                                   [&](std::string_view part) { return contains(name, part); });
    if (!query || !e.mine(*calls, row) || count < e.fact(&Facts::kernels) || e.share(total) < kQueryShare)
      continue;
    Claim f = claim(e, RuleId::H06,
                    fmt::format("{} calls of {} per step take {} of host time",
                                format_value(count / e.steps(), Unit::count), name, ns(total / e.steps())));
    save(f, total / e.steps(), kQueryPessimism, 1);
    f.ideal = {scale_of(analyze::Scale::What::host, name, 0)};
    f.pessimism = kQueryPessimism;
    f.confidence = Confidence::medium;
    f.because = "it is asked at least once per kernel";
    f.evidence = {see::launches("other calls of the runtime")};
    f.remedy = fmt::format(
        "Find who asks ({} below which operator: `stepscope show call_tree`): cache the answer, poll less "
        "often, or upgrade the library that does it.",
        name);
    f.verify = "Fewer such calls than kernels.";
    f.effort = Effort::code;
    return f;
  }
  return std::nullopt;
}

constexpr Rule kRules[] = {
    {RuleId::H05, "a loop launches many small kernels", true, repeated_ops,
     R"(Looks at: *Loops of operators* of `launches`: 1 to 8 operators 10 times and more in a row below one range. Fires for
the loop with most `idle`, when the program is host-bound or mixed, each round launches something, half of it is shorter than
kTinyKernel, the device works for no more than kLayerWork a round, and is idle in kLoopShare of the window there. When it is device-bound,
`pauses` take the place of `idle`, and come to kPausesOfLoop of what the device does there: launching early does not shorten the pause before
each kernel.

Saving: replay with the loop's operators and what they launch at kLoopPessimism of their time to two rounds of it.

Without a device: the loop with most `host` time, from kLoopShare of the window on, with rounds of no more than kLayerWork and more of them
than a step has parameters with gradients, as layers have one each. Saving: kLoopPessimism of that time less what recording cost, to all but two rounds of
it less kSureRecording of that cost.

Silent on: layers of a model, whose rounds differ or run longer kernels; loops that wait in each round (S01, S03); optimizer, zero_grad, buckets and broadcasts of data
parallelism, which have rules of their own; loops that launch nothing.)"},
    {RuleId::H06, "the runtime is asked the same again and again", true, many_queries,
     R"(Looks at: *Other calls of the runtime by name* of `launches`: queries of properties, attributes, events, streams and occupancy.
Fires for one with at least one call per kernel and kQueryShare of the window in them.

Saving: replay without these calls; low is kQueryPessimism of it.

Silent on: large counts that cost nothing.)"},
};

}  // namespace

std::span<const Rule> loop_rules() { return kRules; }

}  // namespace stepscope::advise
