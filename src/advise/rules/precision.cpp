// Rules of precision (P).
#include <fmt/format.h>

#include "advise/cite.h"
#include "advise/device_work.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/rules/on_cpu.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/names.h"

namespace stepscope::advise {
namespace {

using analyze::DeviceUse;

constexpr std::string_view kPlainDoc =
    R"(Looks for matrix products and convolutions on plain cores (`devices`: plain_core_share, by kernel
names) that take at least `kPlainCoreShare` of compute time, on a device that has matrix units. Saving: replay
with these kernels `kMinSpeedUp` to `kMaxSpeedUp` times as fast. The high end is the ratio of bf16's peak to
that of plain cores, where both are known and it is larger (`devices`: plain_gain); kernels between products
then move half the bytes. The replay also shows where the host limits afterwards; when the host limits
already, the finding is listed as `next`. Launch calls that wait for a full queue cost the host
nothing in that replay. Silent at the 0 to 5 % of mixed-precision programs.)";

/// The speed-up that the device's peaks allow; `otherwise` if that is unknown or smaller.
double most_gain(double gain, double otherwise) { return gain > otherwise ? gain : otherwise; }

std::optional<Claim> plain_cores(const Evidence& e, Bound bound) {
  for (const DeviceUse* row : e.mine(e.reports().devices.devices, "Devices")) {
    const double share = row->plain_cores;
    if (!(share >= kPlainCoreShare)) continue;
    const std::int64_t time = compute_time(e, share);
    Claim f = claim(
        e, RuleId::P01,
        fmt::format("{} of kernel time ({} per step) are matrix products and convolutions that do not use {}",
                    percent(share), ns(time), worded(e, "<<tensor cores||matrix cores||the matrix units>>")));
    const double gain = most_gain(row->plain_gain, kMaxSpeedUp);
    save(f, time, 1 - 1 / kMinSpeedUp, 1 - 1 / gain);
    change(f, {scale_of(Scale::What::plain_cores, 1 / gain)},
           {scale_of(Scale::What::plain_cores, 1 / kMinSpeedUp)});
    if (gain > kMaxSpeedUp)  // in half precision, kernels between products move half the bytes
      f.ideal.push_back(scale_kinds({KernelKind::pointwise, KernelKind::norm, KernelKind::softmax,
                                     KernelKind::copy, KernelKind::reduction},
                                    0.5));
    f.shortens_kernels = true;
    device_only(f, bound);
    f.confidence = Confidence::medium;
    if (!f.next)
      f.because = "kernel names show it; how much a lower precision gains depends on memory traffic";
    f.evidence = {see::devices("plain_core_share"), see::kernels("tensor_cores = no")};
    f.remedy = lower_precision(e);
    f.verify = "Kernel names with matrix units appear; the loss curve stays the same.";
    f.effort = Effort::one_line;
    return f;
  }
  return std::nullopt;
}

constexpr std::string_view kDoubleDoc =
    R"(Looks for kernels whose names show double precision (`<double`, dgemm, d884, Tensile's _DB_) and that
take at least `kDoubleShare` of compute time (`devices`: fp64_share). Saving: replay with them `kMinDouble` to
`kMaxDouble` times as fast, or to what the device's peaks allow (fp64_gain). Silent for doubles that are only
a scalar argument of a kernel in another type, such as a learning rate. Without a device: operators that
compute in fp64 (`host_time`) for at least that share of the window, `kMinDouble` to `kMaxDoubleOnCpu` times
as fast.)";

std::optional<Claim> double_precision(const Evidence& e, Bound bound) {
  if (bound == Bound::host_only) return double_precision_on_cpu(e);
  const DeviceUse* most = nullptr;
  for (const DeviceUse* row : e.mine(e.reports().devices.devices, "Devices"))
    if (row->fp64 > (most == nullptr ? 0 : most->fp64)) most = row;
  if (most == nullptr || most->fp64 < kDoubleShare) return std::nullopt;
  const double share = most->fp64;
  const std::int64_t time = compute_time(e, share);
  Claim f =
      claim(e, RuleId::P03,
            fmt::format("{} of kernel time ({} per step) is double precision", percent(share), ns(time)));
  const double gain = most_gain(most->fp64_gain, kMaxDouble);
  save(f, time, 1 - 1 / kMinDouble, 1 - 1 / gain);
  change(f, {scale_of(Scale::What::fp64, 1 / gain)}, {scale_of(Scale::What::fp64, 1 / kMinDouble)});
  f.shortens_kernels = true;
  device_only(f, bound);
  f.confidence = Confidence::medium;
  if (!f.next) f.because = "kernel names show it";
  f.evidence = {see::devices("fp64_share"), see::kernels("names with double")};
  f.remedy =
      "Find the float64 source: torch.from_numpy(a).float(), dtype=torch.float32 where tensors are made, "
      "Python numbers instead of numpy scalars. If the result needs float64, leave it.";
  f.verify = "No kernel name contains double.";
  f.effort = Effort::one_line;
  return f;
}

constexpr Rule kPrecisionRules[] = {
    {RuleId::P01, "matrix work runs on plain cores", true, plain_cores, kPlainDoc},
    {RuleId::P03, "double precision on the device", true, double_precision, kDoubleDoc},
};

}  // namespace

std::span<const Rule> precision_rules() { return kPrecisionRules; }

}  // namespace stepscope::advise
