// Rules of work that could be left out or done as fast as before: convolutions (K08), recomputed activations
// (K09), the clock (K10).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "advise/device_work.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::kNoInt;
using report::Table;
using report::Unit;

/// The rank's first row of a table of `kernels` that has that text in that column ("" for any); nothing when
/// there is none.
struct Found {
  const Table* table = nullptr;
  std::size_t row = 0;
  explicit operator bool() const { return table != nullptr; }
  std::int64_t number(std::string_view column) const { return (*ints_of(*table, column))[row]; }
  double real(std::string_view column) const { return (*reals_of(*table, column))[row]; }
  const std::string& text(std::string_view column) const { return (*texts_of(*table, column))[row]; }
};

Found row_of(const Evidence& e, std::string_view title, std::string_view column = "",
             std::string_view text = "") {
  const Table* table = table_of(e.reports().kernels, title);
  for (std::size_t row = 0; table != nullptr && row < table->rows(); ++row)
    if (e.mine(*table, row) && (column.empty() || (*texts_of(*table, column))[row] == text))
      return {table, row};
  return {};
}

/// 8 of "8.6"; 0 of anything else.
int major_of(std::string_view capability) {
  int major = 0;
  std::from_chars(capability.data(), capability.data() + capability.size(), major);
  return major;
}

bool has_tensor_cores(const Evidence& e) {
  const Table* devices = table_of(e.reports().devices, "Devices");
  for (std::size_t row = 0; devices != nullptr && row < devices->rows(); ++row)
    if (e.mine(*devices, row) && major_of((*texts_of(*devices, "compute_capability"))[row]) >= 7) return true;
  return false;
}

constexpr std::string_view kSetupDoc =
    R"(Looks at *Convolution setup* of `kernels`. Either `kFallbackShare` of compute time goes into kernels that cuDNN falls back on, on a device of compute capability 7 and more: 1 to `kMeasuredKernel` times
as fast where cuDNN measures all its kernels first, through replay where launches are linked. Or convolutions add a bias that a batch norm takes away again: the time of what adds it. What comes next where
the host limits. Silent where sizes vary over the steps: each would be measured anew. Low confidence: the fallback may be the fastest, and may have been
measured.)";

std::optional<Claim> fallback_convolutions(const Evidence& e, const Found& fallback) {
  const double share = fallback.real("share");
  const bool fixed = fallback.text("sizes") == "fixed";
  Claim f = claim(e, RuleId::K08,
                  fmt::format("{} of kernel time ({} per step) goes into fallback kernels of convolutions",
                              percent(share), ns(compute_time(e, share))));
  save(f, compute_time(e, share), 0, 1 - 1 / kMeasuredKernel);
  change(f,
         fmt::format("kernel:/implicit_convolve_sgemm|conv2d_c1_k1|fft1d_|fft2d_/={}", 1 / kMeasuredKernel),
         0.0);
  f.because = fixed ? "sizes are the same in all steps; the fallback may be the fastest kernel all the same"
                    : "sizes are not known to stay the same, and the fallback may be the fastest kernel";
  f.evidence = {see::kernels("convolution setup, the longest is " + fallback.text("kernel").substr(0, 60))};
  f.remedy =
      "torch.backends.cudnn.benchmark=True where sizes are fixed<<|| and MIOPEN_FIND_MODE=3|| "
      "(MIOPEN_FIND_MODE=3 on ROCm)>>; a convolution "
      "in "
      "half precision and channels_last has better kernels still.";
  f.verify = "Other convolution kernels, and a shorter step, behind the first one.";
  f.effort = Effort::option;
  return f;
}

std::optional<Claim> needless_bias(const Evidence& e, const Found& bias) {
  Claim f =
      claim(e, RuleId::K08,
            fmt::format("{} kernels per step add biases of convolutions that a batch norm takes away again",
                        format_value(bias.number("kernels") / e.steps(), Unit::count)));
  save(f, compute_time(e, bias.real("share")), 1, 1);
  f.because = "the operators are in the file: a batch norm follows the convolution";
  f.evidence = {see::kernels("convolution setup, bias before batch norm")};
  f.remedy = "bias=False in convolutions that a batch norm follows.";
  f.verify = "kernels: no bias before batch norm.";
  f.effort = Effort::one_line;
  return f;
}

std::optional<Claim> convolution_setup(const Evidence& e, Bound bound) {
  const Found fallback = row_of(e, "Convolution setup", "what", "fallback kernels"),
              bias = row_of(e, "Convolution setup", "what", "bias before batch norm");
  std::optional<Claim> f;
  if (fallback && fallback.real("share") >= kFallbackShare && fallback.text("sizes") != "varying" &&
      has_tensor_cores(e))
    f = fallback_convolutions(e, fallback);
  else if (bias)
    f = needless_bias(e, bias);
  if (!f) return f;
  f->shortens_kernels = true;
  device_only(*f, bound);
  return f;
}

constexpr std::string_view kRecomputeDoc =
    R"(Looks for `kRecomputeShare` of compute time in forward work that the backward pass does again (*Recomputed work* of `kernels`). Saving: `kRecomputeLeast` to `kRecomputeMost` of it, through replay with compute kernels
shorter by as much; what comes next where the host limits. Silent where memory is recorded and the peak with what would be held instead is above `kFullestMemory` of the device's memory: then
recomputing is what makes the program fit. Low confidence without `[memory]` events.)";

std::optional<Claim> recompute(const Evidence& e, Bound bound) {
  const Found work = row_of(e, "Recomputed work");
  if (!work || work.real("share") < kRecomputeShare) return std::nullopt;
  const double share = work.real("share");
  const Memory memory = memory_of(e);
  const std::int64_t held = work.number("held");
  const bool known = memory.total > 0 && held != kNoInt;
  if (known && static_cast<double>(report::plus(memory.peak, held)) >=
                   kFullestMemory * static_cast<double>(memory.total))
    return std::nullopt;
  Claim f = claim(e, RuleId::K09,
                  fmt::format("{} of kernel time ({} per step) computes activations again", percent(share),
                              ns(compute_time(e, share))));
  save(f, compute_time(e, share), kRecomputeLeast, kRecomputeMost);
  change(f, fmt::format("compute={}", 1 - kRecomputeMost * share),
         fmt::format("compute={}", 1 - kRecomputeLeast * share));
  f.shortens_kernels = true;
  device_only(f, bound);
  f.confidence = known ? Confidence::medium : Confidence::low;
  if (!f.next)
    f.because = known
                    ? fmt::format("{} of {} are used at the peak, and holding the activations takes {}",
                                  format_value(memory.peak, Unit::bytes),
                                  format_value(memory.total, Unit::bytes), format_value(held, Unit::bytes))
                    : "memory is not recorded: only worth it where there is room (profile_memory=True tells)";
  f.evidence = {see::kernels("recomputed work, known by " + work.text("known_by"))};
  f.remedy =
      "Checkpoint fewer blocks; a selective policy (create_selective_checkpoint_contexts) that recomputes "
      "only "
      "what is cheap; with torch.compile an activation_memory_budget.";
  f.verify = "kernels: a smaller share of recomputed work; memory_events: a peak that still fits.";
  f.effort = Effort::code;
  return f;
}

/// The host's pace in the last third of the steps / in the first, without the first step; 1 where it is not
/// known.
double host_drift(const Evidence& e) {
  const Table* steps = table_of(e.reports().steps, "Step time");
  const report::Reals* pace = steps == nullptr ? nullptr : reals_of(*steps, "host_pace");
  std::vector<double> paces;
  for (std::size_t row = 0; pace != nullptr && row < pace->size(); ++row)
    if (e.mine(*steps, row)) paces.push_back((*pace)[row]);
  const std::size_t third = paces.size() / 3;
  if (third == 0) return 1;
  const auto median = [](std::vector<double> of) {
    std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2), of.end());
    return of[of.size() / 2];
  };
  if (std::any_of(paces.begin(), paces.end(), [](double p) { return !(p > 0); })) return 1;
  const auto at = static_cast<std::ptrdiff_t>(third);
  return median({paces.end() - at, paces.end()}) / median({paces.begin() + 1, paces.begin() + 1 + at});
}

constexpr std::string_view kDriftDoc =
    R"(Looks for at least `kMinEqualKernels` kernels per step of equal name, grid and block (*Drift of equal kernels* of `kernels`) of which `kDriftingGroups` of the groups became slower by `kDriftPace` from the first third of the
steps to the last, and all of them together as well, while the host kept its pace (`steps`: host_pace). Saving: what they take beyond the first third, at least `kDriftPessimism` of it; through replay with compute kernels
shorter by as much; what comes next where the host limits. The first step is left out, as clocks ramp up. Silent where kernels of larger grids replace smaller ones: inputs that grow.)";

std::optional<Claim> clock_drift(const Evidence& e, Bound bound) {
  const Found drift = row_of(e, "Drift of equal kernels");
  if (!drift || drift.number("kernels") < kMinEqualKernels || drift.real("slower_share") < kDriftingGroups ||
      drift.real("pace") <= kDriftPace || host_drift(e) > kDriftPace)
    return std::nullopt;
  const double saved = std::min(1.0, report::ratio(drift.number("excess"), e.fact(&Facts::compute)));
  Claim f = claim(e, RuleId::K10,
                  fmt::format("The same kernels run {} slower from step {} on: clock or power limit",
                              percent(drift.real("pace") - 1), drift.number("since_step")));
  save(f, drift.number("excess") / e.steps(), kDriftPessimism, 1);
  change(f, fmt::format("compute={}", 1 - saved), fmt::format("compute={}", 1 - kDriftPessimism * saved));
  f.shortens_kernels = true;
  device_only(f, bound);
  f.confidence = Confidence::low;
  if (!f.next)
    f.because = fmt::format(
        "{} of {} groups of equal kernels slow down and the host does not; clocks are not recorded",
        percent(drift.real("slower_share")), drift.number("groups"));
  f.evidence = {see::kernels(fmt::format("drift of equal kernels, {} per step", drift.number("kernels")))};
  f.remedy =
      "<<nvidia-smi -q -d PERFORMANCE,CLOCK||rocm-smi --showperflevel -c||nvidia-smi -q -d PERFORMANCE,CLOCK "
      "or rocm-smi --showperflevel -c>> while it runs: see what holds the clock down, power or heat; mend "
      "the "
      "cooling or the cap; compare with the other ranks.";
  f.verify = "kernels: pace under 1.02.";
  f.effort = Effort::hardware;
  return f;
}

constexpr Rule kRules[] = {
    {RuleId::K08, "convolutions are set up badly", true, convolution_setup, kSetupDoc},
    {RuleId::K09, "activations are computed again", true, recompute, kRecomputeDoc},
    {RuleId::K10, "the same kernels become slower", true, clock_drift, kDriftDoc},
};

}  // namespace

std::span<const Rule> rework_rules() { return kRules; }

}  // namespace stepscope::advise
