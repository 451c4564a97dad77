// Rules of programs that run on the CPU alone (H10).
#include <fmt/format.h>

#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/rules/on_cpu.h"
#include "advise/say.h"
#include "advise/see.h"

namespace stepscope::advise {
namespace {

using report::Ints;
using report::Table;
using report::Texts;

std::optional<Claim> cpu_operator(const Evidence& e, Bound bound) {
  const Table* operators = table_of(e.reports().operators, "Operators");
  if (bound != Bound::host_only || operators == nullptr || !computes_on_cpu(e)) return std::nullopt;
  const Ints& self = *ints_of(*operators, "host_self");
  const Texts& names = *texts_of(*operators, "name");
  std::size_t most = self.size();
  for (std::size_t row = 0; row < self.size(); ++row)
    if (e.mine(*operators, row) && !names[row].ends_with("(dynamo_timed)") &&  // compiling: G01
        (most == self.size() || self[row] > self[most]))
      most = row;
  const std::int64_t recorded = e.fact(&Facts::host_span);
  if (most == self.size() || recorded <= 0) return std::nullopt;
  const double share = static_cast<double>(self[most]) / static_cast<double>(recorded);
  if (share < kCpuOperatorShare) return std::nullopt;
  const std::string& name = names[most];
  const double rate = (*reals_of(*operators, "flop_rate"))[most];
  Claim f =
      claim(e, RuleId::H10,
            fmt::format("{} takes {} of {} on the CPU{}", name,
                        ns(static_cast<std::int64_t>(share * static_cast<double>(e.step_length()))),
                        ns(e.step_length()),
                        rate > 0 ? ", at " + report::format_value(rate, report::Unit::flop_per_s) : ""));
  f.confidence = Confidence::low;
  f.because = "how fast this CPU could be, and how many threads it may use, is not in the file";
  f.evidence = {see::operators("host_self, flop_rate")};
  f.remedy = fmt::format(
      "torch.set_num_threads() at the number of cores, torch.compile, {}bfloat16 where the CPU has it, "
      "torch.inference_mode() without training.",
      name.find("conv") != std::string::npos ? "channels_last, " : "");
  f.verify = "A higher flop_rate in `stepscope show operators`.";
  f.effort = Effort::one_line;
  return f;
}

constexpr Rule kRules[] = {
    {RuleId::H10, "one operator takes much of the step on the CPU", false, cpu_operator,
     R"(Looks at: `operators`, `host_self` ÷ `host_span` of `overview`. Fires for the largest operator from kCpuOperatorShare on, when no
device and no call of a device's runtime is recorded.

Saving: none is stated: what the CPU could do is not in the file.

Silent on: recordings that lack their device events.)"},
};

}  // namespace

std::span<const Rule> cpu_rules() { return kRules; }

}  // namespace stepscope::advise
