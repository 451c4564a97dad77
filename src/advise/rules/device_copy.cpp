// Rules of copies, layouts and types within a device (C05, C07, C08).
#include <fmt/format.h>

#include <algorithm>

#include "advise/device_work.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/say.h"
#include "advise/see.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Unit;

constexpr std::string_view kDeviceCopyDoc =
    R"(Looks at copies inside the device: rows of `copies` (without DDP's bucket copies, which belong to N09)
and kernels of the kinds copy and concat (`kernels`; not when K01 fires, which covers them). Together they
take at least `kDeviceCopyShare` of compute time, or the copies are exposed for `kCopyShare` of the window.
Saving: replay with the copies, but not concatenations, at 0.1 to 0.7 of their length.)";

bool within_device(const OperatorCopies& copy) { return copy.direction == CopyDirection::within_device; }

std::optional<Claim> device_copies(const Evidence& e, Bound bound) {
  const CopySum copies = copies_of(
      e, [](const OperatorCopies& copy) { return within_device(copy) && !is_bucket_copy(copy.op); });
  const CopySum all = copies_of(e, within_device);
  const double kernels = has_pointwise_chains(e) ? 0 : kind_share(e, {KernelKind::copy, KernelKind::concat});
  const std::int64_t per_step = copies.total / e.steps() + compute_time(e, kernels);
  const std::int64_t compute = std::max<std::int64_t>(1, e.fact(&Facts::compute) / e.steps());
  if (copies.count == 0 || (static_cast<double>(per_step) < kDeviceCopyShare * static_cast<double>(compute) &&
                            e.share(copies.exposed) < kCopyShare))
    return std::nullopt;
  Claim f = claim(e, RuleId::C05,
                  fmt::format("{} per step go into copies inside the device: {} copies of {} in total{}{}",
                              ns(per_step), format_value(copies.count / e.steps(), Unit::count),
                              format_value(copies.bytes / e.steps(), Unit::bytes),
                              copies.op.empty() ? "" : ", most for " + copies.op,
                              kernels > 0 ? ", and kernels that copy" : ""));
  save(f, per_step, kCopyLeast, kCopyMost);
  const double own =
      static_cast<double>(copies.total) / static_cast<double>(std::max<std::int64_t>(1, all.total));
  const auto shortened = [&](double to) {
    std::vector<Scale> scales = {
        scale_any(Scale::What::kernel, {"DtoD", "DeviceToDevice"}, 1 - own * (1 - to))};
    if (kernels > 0) scales.push_back(scale_kinds({KernelKind::copy}, to));
    return scales;
  };
  change(f, shortened(0.1), shortened(0.7));
  f.shortens_kernels = true;
  device_only(f, bound);
  f.confidence = Confidence::medium;
  if (!f.next) f.because = "the copies are in the file; which of them the program needs is not";
  f.evidence = {see::copies(fmt::format("{} exposed of {}", ns(copies.exposed / e.steps()),
                                        advise::per_step(e, copies.total))),
                see::kernels("kinds copy, concat")};
  f.remedy =
      "Drop .clone() and .contiguous() before operators that take strides, write into preallocated results "
      "(out=), use collectives in place, call torch.cat once.";
  f.verify = "copies: fewer Device -> Device rows for that operator.";
  f.effort = Effort::code;
  return f;
}

constexpr std::string_view kLayoutDoc =
    R"(Looks for kernels of kind layout (`kernels`: nchwToNhwc, batched_transpose, im2col, MIOpen's
SubTensorOpWithCast, …) that take at least `kLayoutShare` of compute time. Saving: replay without half of them
(low end) or all of them (high end). Silent for the one conversion at the border of a network (1.9 % in a
vision transformer).)";

std::optional<Claim> layout_changes(const Evidence& e, Bound bound) {
  const double share = kind_share(e, {KernelKind::layout});
  if (share < kLayoutShare) return std::nullopt;
  Claim f = claim(
      e, RuleId::C07,
      fmt::format("{} of kernel time ({} per step) converts tensors between channels first and channels last",
                  percent(share), ns(compute_time(e, share))));
  save(f, compute_time(e, share), kLayoutLeast, 1.0);
  change(f, {scale_kinds({KernelKind::layout}, 0)}, {scale_kinds({KernelKind::layout}, 0.5)});
  f.shortens_kernels = true;
  device_only(f, bound);
  f.confidence = Confidence::medium;
  if (!f.next) f.because = "kernel names show the conversions around convolutions";
  f.evidence = {see::kernels("kind layout")};
  f.remedy =
      "model.to(memory_format=torch.channels_last), the same for the inputs, and autocast<<.||; also "
      "PYTORCH_MIOPEN_SUGGEST_NHWC=1.||; on ROCm also PYTORCH_MIOPEN_SUGGEST_NHWC=1.>>";
  f.verify = "kernels: kind layout under 1 %.";
  f.effort = Effort::one_line;
  return f;
}

constexpr std::string_view kCastDoc =
    R"(Looks for kernels of kind cast (`kernels`: PyTorch's copy kernels between two types) that take at least
`kCastShare` of compute time. Saving: replay with them at 0.1 to 0.7 of their length. Silent when K01 fires:
casts in chains of element-wise kernels go away with the chains.)";

std::optional<Claim> casts(const Evidence& e, Bound bound) {
  const double share = kind_share(e, {KernelKind::cast});
  if (share < kCastShare || has_pointwise_chains(e)) return std::nullopt;
  Claim f = claim(e, RuleId::C08,
                  fmt::format("{} of kernel time ({} per step) casts tensors to another type", percent(share),
                              ns(compute_time(e, share))));
  save(f, compute_time(e, share), kCopyLeast, kCopyMost);
  change(f, {scale_kinds({KernelKind::cast}, 0.1)}, {scale_kinds({KernelKind::cast}, 0.7)});
  f.shortens_kernels = true;
  device_only(f, bound);
  f.confidence = Confidence::low;
  if (!f.next) f.because = "only kernel names show it; some casts are needed";
  f.evidence = {see::kernels("kind cast")};
  f.remedy =
      "For inference, load the weights in bfloat16. For training, keep float32 master weights: FSDP's "
      "MixedPrecisionPolicy, or autocast with its cache (cache_enabled=True). Use norms that take bfloat16, "
      "or compile the module.";
  f.verify = "kernels: kind cast under 2 %.";
  f.effort = Effort::code;
  return f;
}

constexpr Rule kDeviceCopyRules[] = {
    {RuleId::C05, "much time goes into copies inside the device", true, device_copies, kDeviceCopyDoc},
    {RuleId::C07, "tensors change between memory layouts", true, layout_changes, kLayoutDoc},
    {RuleId::C08, "much time goes into casts", true, casts, kCastDoc},
};

}  // namespace

std::span<const Rule> device_copy_rules() { return kDeviceCopyRules; }

}  // namespace stepscope::advise
