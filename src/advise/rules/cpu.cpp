// Rules of programs that run on the CPU alone (H10).
#include <fmt/format.h>

#include <optional>

#include "advise/own_places.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/rules/on_cpu.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/names.h"

namespace stepscope::advise {
namespace {

/// Where the work is done, if a line calls most of it.
std::optional<Claim> dearest_line(const Evidence& e) {
  const auto place = dearest_place(e, &analyze::LineNode::work);
  if (!place || e.share(place->cost) < kCpuOperatorShare) return std::nullopt;
  std::string ops;
  if (!place->line->op.empty()) ops = ": mostly " + place->line->op;
  if (!ops.empty() && !place->line->inputs.empty())
    ops += " of " + report::short_name(place->line->inputs, 60);
  Claim f = claim(
      e, RuleId::H10,
      fmt::format("{} of {} per step are operators of {}, forward and backward{}",
                  ns(place->cost / e.steps()), ns(e.step_length()), place->quoted() + place->inside(), ops));
  f.confidence = Confidence::low;
  f.because = "samples of the stack name the line; whether all of its work is needed is not in the file";
  f.evidence = {see::lines(fmt::format("work, {}", per_step(e, place->cost)))};
  f.remedy = fmt::format(
      "Ask of {} whether all of it is needed: rows that are padding, zeros or thrown away, results that were "
      "computed before, a full sort for a few values. Then torch.compile, bfloat16 if the CPU supports it, "
      "torch.inference_mode() outside training.",
      place->spoken());
  f.verify = "Less `work` of the line in `stepscope show lines`.";
  f.effort = Effort::code;
  return f;
}

std::optional<Claim> largest_operator(const Evidence& e) {
  const analyze::Operator* most = nullptr;
  for (const analyze::Operator* own : e.mine(e.reports().operators.operators, "Operators"))
    if (!own->name.ends_with("(dynamo_timed)") &&  // compiling: G01
        (most == nullptr || own->host_self > most->host_self))
      most = own;
  const std::int64_t recorded = e.fact(&Facts::host_span);
  if (most == nullptr || recorded <= 0) return std::nullopt;
  const double share = static_cast<double>(most->host_self) / static_cast<double>(recorded);
  if (share < kCpuOperatorShare) return std::nullopt;
  Claim f = claim(e, RuleId::H10,
                  fmt::format("{} takes {} of {} on the CPU{}", most->name,
                              ns(static_cast<std::int64_t>(share * static_cast<double>(e.step_length()))),
                              ns(e.step_length()),
                              most->flop_rate > 0
                                  ? ", at " + report::format_value(most->flop_rate, report::Unit::flop_per_s)
                                  : ""));
  f.confidence = Confidence::low;
  f.because = "the file does not show how fast this CPU could be or how many threads it may use";
  f.evidence = {see::operators("host_self, flop_rate")};
  f.remedy = fmt::format(
      "torch.set_num_threads() with the number of cores, torch.compile, {}bfloat16 if the CPU supports it, "
      "torch.inference_mode() outside training.",
      most->name.find("conv") != std::string_view::npos ? "channels_last, " : "");
  f.verify = "A higher flop_rate in `stepscope show operators`.";
  f.effort = Effort::one_line;
  return f;
}

std::optional<Claim> cpu_operator(const Evidence& e, Bound bound) {
  if (bound != Bound::host_only || !computes_on_cpu(e)) return std::nullopt;
  std::optional<Claim> line = dearest_line(e);
  return line ? line : largest_operator(e);
}

constexpr Rule kCpuRules[] = {
    {RuleId::H10, "one operator takes much of the step on the CPU", false, cpu_operator,
     R"(Looks at: `operators`, `host_self` ÷ `host_span` of `overview`. Fires for the largest operator if its
share is at least kCpuOperatorShare and neither a device nor a call of a device's runtime is recorded. Where
Python stacks are recorded: the line of `lines` with most `work`, found as for H11.

Saving: none is estimated: what the CPU could do is not in the file.

Silent on: recordings that lack their device events.)"},
};

}  // namespace

std::span<const Rule> cpu_rules() { return kCpuRules; }

}  // namespace stepscope::advise
