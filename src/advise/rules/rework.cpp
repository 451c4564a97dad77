// Rules of avoidable work: convolutions set up badly (K08), recomputed activations (K09), clock drift (K10).
#include <fmt/format.h>

#include <algorithm>

#include "advise/device_work.h"
#include "advise/own_places.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/rules/on_cpu.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using analyze::ConvFlaw;
using analyze::ConvSetup;
using analyze::ConvSizes;
using report::format_value;
using report::kNoInt;
using report::Table;
using report::Unit;

bool has_tensor_cores(const Evidence& e) {
  for (const analyze::DeviceUse* row : e.mine(e.reports().devices.devices, "Devices"))
    if (row->compute_major >= 7) return true;
  return false;
}

constexpr std::string_view kSetupDoc =
    R"(Looks at *Convolution setup* of `kernels`. Fires for `kFallbackShare` of compute time in cuDNN's fallback
kernels, on compute capability 7 or more (saving: 1 to `kMeasuredKernel` times as fast if cuDNN measures all
its kernels first, by replay where launches are linked), else for biases that a batch norm subtracts again
(saving: the kernels that add them). When the host limits, listed as `next`. Silent if sizes vary over the
steps: each would be measured again. Low confidence: the fallback may be the fastest, and may already have
been measured.)";

std::optional<Claim> fallback_convolutions(const Evidence& e, const ConvSetup& fallback) {
  const double share = fallback.share;
  const bool fixed = fallback.sizes == ConvSizes::fixed;
  Claim f = claim(e, RuleId::K08,
                  fmt::format("{} of kernel time ({} per step) goes into fallback kernels of convolutions",
                              percent(share), ns(compute_time(e, share))));
  save(f, compute_time(e, share), 0, 1 - 1 / kMeasuredKernel);
  change(f,
         {scale_any(Scale::What::kernel, {"implicit_convolve_sgemm", "conv2d_c1_k1", "fft1d_", "fft2d_"},
                    1 / kMeasuredKernel)},
         0.0);
  f.because = fixed ? "sizes are the same in all steps; the fallback may still be the fastest kernel"
                    : "sizes are not known to stay the same, and the fallback may be the fastest kernel";
  f.evidence = {see::kernels("convolution setup, the longest is " + fallback.kernel.substr(0, 60))};
  f.remedy =
      "torch.backends.cudnn.benchmark=True where sizes are fixed<<|| and MIOPEN_FIND_MODE=3|| "
      "(MIOPEN_FIND_MODE=3 on ROCm)>>; half precision and channels_last have even better kernels.";
  f.verify = "Other convolution kernels and shorter steps after the first step.";
  f.effort = Effort::option;
  return f;
}

std::optional<Claim> needless_bias(const Evidence& e, const ConvSetup& bias) {
  Claim f =
      claim(e, RuleId::K08,
            fmt::format("{} kernels per step add biases of convolutions that a batch norm subtracts again",
                        format_value(bias.kernels / e.steps(), Unit::count)));
  save(f, compute_time(e, bias.share), 1, 1);
  f.because = "the operators are in the file: a batch norm follows the convolution";
  f.evidence = {see::kernels("convolution setup, bias before batch norm")};
  f.remedy = "bias=False in convolutions that a batch norm follows.";
  f.verify = "kernels: no bias before batch norm.";
  f.effort = Effort::one_line;
  return f;
}

std::optional<Claim> convolution_setup(const Evidence& e, Bound bound) {
  const auto first = [&](ConvFlaw what) -> const ConvSetup* {
    for (const ConvSetup* row : e.mine(e.reports().kernels.convolutions, "Convolution setup"))
      if (row->what == what) return row;
    return nullptr;
  };
  const ConvSetup *fallback = first(ConvFlaw::fallback), *bias = first(ConvFlaw::needless_bias);
  std::optional<Claim> f;
  if (fallback != nullptr && fallback->share >= kFallbackShare && fallback->sizes != ConvSizes::varying &&
      has_tensor_cores(e))
    f = fallback_convolutions(e, *fallback);
  else if (bias != nullptr)
    f = needless_bias(e, *bias);
  if (!f) return f;
  f->shortens_kernels = true;
  device_only(*f, bound);
  return f;
}

constexpr std::string_view kRecomputeDoc =
    R"(Looks for `kRecomputeShare` of compute time in forward work that the backward pass repeats (*Recomputed work*
of `kernels`). Saving: `kRecomputeLeast` to `kRecomputeMost` of it, by replay that spreads it over compute
kernels; when the host limits, listed as `next`. Silent if memory is recorded and its peak plus the
activations, if kept, exceeds `kFullestMemory` of the device's memory: then the program fits only because it
recomputes. Low confidence without `[memory]` events.

Where no device works: kRecomputeShare of the window in operators of the forward pass below autograd's nodes
(`lines`, recomputed). Silent if nodes of operators that a node called are recorded, and no line that calls
torch.utils.checkpoint: gradients of gradients look the same. Saving: kRecomputeOnCpuLeast to kRecomputeOnCpuMost of it.)";

std::optional<Claim> recompute_on_cpu(const Evidence& e) {
  const analyze::LineSums* sums = line_sums(e);
  if (!computes_on_cpu(e) || sums == nullptr || e.share(sums->recomputed) < kRecomputeShare)
    return std::nullopt;
  const analyze::LineNode* line = checkpointing_line(e);
  const bool may_be_gradients_of_gradients = sums->deeper > 0 && line == nullptr;
  if (may_be_gradients_of_gradients) return std::nullopt;
  const std::string where = line == nullptr ? "" : ": " + OwnPlace{.line = line}.quoted();
  Claim f = claim(e, RuleId::K09,
                  fmt::format("{} repeat the forward pass in the backward pass (activation checkpointing){}",
                              of_step(e, sums->recomputed), where));
  save(f, sums->recomputed / e.steps(), kRecomputeOnCpuLeast, kRecomputeOnCpuMost);
  f.confidence = Confidence::medium;
  f.because =
      "the operators are below autograd's nodes; whether their results would fit into memory is not recorded";
  f.evidence = {see::lines("recomputed, " + per_step(e, sums->recomputed))};
  f.remedy =
      "Without checkpointing, if memory allows: call the blocks directly instead of through "
      "torch.utils.checkpoint; else checkpoint fewer blocks.";
  f.verify = "No recomputed time in `stepscope show lines`.";
  f.effort = Effort::one_line;
  return f;
}

std::optional<Claim> recompute(const Evidence& e, Bound bound) {
  if (bound == Bound::host_only) return recompute_on_cpu(e);
  const auto works = e.mine(e.reports().kernels.recomputed, "Recomputed work");
  if (works.empty() || works.front()->share < kRecomputeShare) return std::nullopt;
  const double share = works.front()->share;
  const Memory memory = memory_of(e);
  const std::int64_t held = works.front()->held;
  const bool known = memory.total > 0 && held != kNoInt;
  if (known && static_cast<double>(report::plus(memory.peak, held)) >=
                   kFullestMemory * static_cast<double>(memory.total))
    return std::nullopt;
  Claim f = claim(e, RuleId::K09,
                  fmt::format("{} of kernel time ({} per step) recomputes activations", percent(share),
                              ns(compute_time(e, share))));
  save(f, compute_time(e, share), kRecomputeLeast, kRecomputeMost);
  change(f, {scale_of(Scale::What::compute, 1 - kRecomputeMost * share)},
         {scale_of(Scale::What::compute, 1 - kRecomputeLeast * share)});
  f.shortens_kernels = true;
  device_only(f, bound);
  f.confidence = known ? Confidence::medium : Confidence::low;
  if (!f.next)
    f.because = known ? fmt::format("{} of {} are used at the peak, and keeping the activations takes {}",
                                    format_value(memory.peak, Unit::bytes),
                                    format_value(memory.total, Unit::bytes), format_value(held, Unit::bytes))
                      : "memory is not recorded: only worth it if there is room (profile_memory=True, "
                        "stepscope record: --memory)";
  f.evidence = {see::kernels(fmt::format("recomputed work, known by {}", name_of(works.front()->known_by)))};
  f.remedy =
      "Checkpoint fewer blocks; a selective policy (create_selective_checkpoint_contexts) that recomputes "
      "only "
      "what is cheap; with torch.compile an activation_memory_budget.";
  f.verify = "kernels: a smaller share of recomputed work; memory_events: a peak that still fits.";
  f.effort = Effort::code;
  return f;
}

/// Host pace in the last third of the steps / in the first third, without the first step; 1 if not known.
double host_drift(const Evidence& e) {
  std::vector<double> paces;
  for (const analyze::StepTime* step : e.mine(e.reports().steps.steps, "Step time by what the time went to"))
    paces.push_back(step->pace.host);
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
    R"(Looks for at least `kMinEqualKernels` kernels per step in groups of equal name, grid and block (*Drift of
equal kernels* of `kernels`). In the last third of the steps, `kDriftingGroups` of the groups and all kernels
together take `kDriftPace` × the first third's time, while the host kept its pace (`steps`: host_pace).
Saving: what they take beyond the first third, at least `kDriftPessimism` of it; by replay that spreads it
over compute kernels; when the host limits, listed as `next`. The first step is excluded, as clocks ramp up.
Silent if kernels of larger grids replace smaller ones: inputs that grow.)";

std::optional<Claim> clock_drift(const Evidence& e, Bound bound) {
  const auto drifts = e.mine(e.reports().kernels.drift, "Drift of equal kernels");
  if (drifts.empty()) return std::nullopt;
  const analyze::KernelDrift& drift = *drifts.front();
  if (drift.kernels < kMinEqualKernels || drift.slower < kDriftingGroups || drift.pace <= kDriftPace ||
      host_drift(e) > kDriftPace)
    return std::nullopt;
  const double saved = std::min(1.0, report::ratio(drift.excess, e.fact(&Facts::compute)));
  Claim f = claim(e, RuleId::K10,
                  fmt::format("The same kernels run {} slower from step {} on: clock or power limit",
                              percent(drift.pace - 1), drift.since_step));
  save(f, drift.excess / e.steps(), kDriftPessimism, 1);
  change(f, {scale_of(Scale::What::compute, 1 - saved)},
         {scale_of(Scale::What::compute, 1 - kDriftPessimism * saved)});
  f.shortens_kernels = true;
  device_only(f, bound);
  f.confidence = Confidence::low;
  if (!f.next)
    f.because = fmt::format(
        "{} of {} groups of equal kernels slow down, but the host does not; clocks are not recorded",
        percent(drift.slower), drift.groups);
  f.evidence = {see::kernels(fmt::format("drift of equal kernels, {} per step", drift.kernels))};
  f.remedy =
      "<<nvidia-smi -q -d PERFORMANCE,CLOCK||rocm-smi --showperflevel -c||The vendor's tool>> while it runs: "
      "see whether power or heat holds the clock down; fix "
      "the cooling or the cap; compare with the other ranks.";
  f.verify = "kernels: pace under 1.02.";
  f.effort = Effort::hardware;
  return f;
}

constexpr Rule kReworkRules[] = {
    {RuleId::K08, "convolutions are set up badly", true, convolution_setup, kSetupDoc},
    {RuleId::K09, "activations are recomputed", true, recompute, kRecomputeDoc},
    {RuleId::K10, "the same kernels become slower", true, clock_drift, kDriftDoc},
};

}  // namespace

std::span<const Rule> rework_rules() { return kReworkRules; }

}  // namespace stepscope::advise
