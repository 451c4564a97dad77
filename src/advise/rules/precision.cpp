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

using report::Table;

/// What lies between products reads and writes half the bytes in half precision.
constexpr std::string_view kShorterActivations = "; kind:/pointwise|norm|softmax|copy|reduction/=0.5";

constexpr std::string_view kPlainDoc =
    R"(Looks for matrix products and convolutions on plain cores (`devices`: plain_core_share, by kernel names) that take at least `kPlainCoreShare` of compute time, on a device
that has matrix units. Saving: replay with these kernels `kMinSpeedUp` to `kMaxSpeedUp` times as fast, at
most as many as bf16's peak is above that of plain cores where the device has both (`devices`: plain_gain; what lies between products then moves half the bytes), so that the host limits then where it does: in
a recording bound by the host this is what comes next. Launch calls that wait for a full queue cost the host nothing in that
replay. Silent at the 0 to 5 % of mixed-precision programs.)";

/// How many times as fast the device's peaks allow, `otherwise` where they are not known or allow less.
double most_gain(const Table& devices, std::string_view column, std::size_t row, double otherwise) {
  const auto* gains = reals_of(devices, column);
  return gains != nullptr && (*gains)[row] > otherwise ? (*gains)[row] : otherwise;
}

std::optional<Claim> plain_cores(const Evidence& e, Bound bound) {
  const Table* devices = table_of(e.reports().devices, "Devices");
  if (devices == nullptr) return std::nullopt;
  const auto* plain = reals_of(*devices, "plain_core_share");
  const auto* busy = ints_of(*devices, "busy");
  if (plain == nullptr || busy == nullptr) return std::nullopt;
  for (std::size_t row = 0; row < plain->size(); ++row) {
    if (!e.mine(*devices, row) || !((*plain)[row] >= kPlainCoreShare)) continue;
    const auto time =
        static_cast<std::int64_t>((*plain)[row] * static_cast<double>(e.fact(&Facts::compute))) / e.steps();
    Claim f = claim(
        e, RuleId::P01,
        fmt::format(
            "{} of kernel time ({} per step) is matrix work on plain cores; this device has matrix units",
            percent((*plain)[row]), ns(time)));
    const double gain = most_gain(*devices, "plain_gain", row, kMaxSpeedUp);
    save(f, time, 1 - 1 / kMinSpeedUp, 1 - 1 / gain);
    change(f, fmt::format("plain_cores={}{}", 1 / gain, gain > kMaxSpeedUp ? kShorterActivations : ""),
           fmt::format("plain_cores={}", 1 / kMinSpeedUp));
    f.shortens_kernels = true;
    device_only(f, bound);
    f.confidence = Confidence::medium;
    if (!f.next)
      f.because = "kernel names show it; how much a lower precision gains depends on memory traffic";
    f.evidence = {see::devices("plain_core_share"), see::kernels("tensor_cores = no")};
    f.remedy = lower_precision(e);
    f.verify = "Kernel names with matrix units appear; the loss curve stays.";
    f.effort = Effort::one_line;
    return f;
  }
  return std::nullopt;
}

constexpr std::string_view kDoubleDoc =
    R"(Looks for kernels whose names say double (`<double`, dgemm, d884, Tensile's _DB_) and that take at least `kDoubleShare` of compute time (`devices`: fp64_share). Saving: replay
with them `kMinDouble` to `kMaxDouble` times as fast, or what the device's peaks allow (fp64_gain). Silent for double numbers that only travel as a scalar argument of a kernel in
another type, as a learning rate does. Without a device: operators that compute in fp64 (`host_time`) from that share of the window on, `kMinDouble` to `kMaxDoubleOnCpu` times as fast.)";

std::optional<Claim> double_precision(const Evidence& e, Bound bound) {
  if (bound == Bound::host_only) return double_precision_on_cpu(e);
  const Table* devices = table_of(e.reports().devices, "Devices");
  const auto* shares = devices == nullptr ? nullptr : reals_of(*devices, "fp64_share");
  double share = 0;
  std::size_t most = 0;
  for (std::size_t row = 0; shares != nullptr && row < shares->size(); ++row) {
    if (!e.mine(*devices, row) || !((*shares)[row] > share)) continue;
    share = (*shares)[row];
    most = row;
  }
  if (share < kDoubleShare) return std::nullopt;
  const std::int64_t time = compute_time(e, share);
  Claim f =
      claim(e, RuleId::P03,
            fmt::format("{} of kernel time ({} per step) is double precision", percent(share), ns(time)));
  const double gain = most_gain(*devices, "fp64_gain", most, kMaxDouble);
  save(f, time, 1 - 1 / kMinDouble, 1 - 1 / gain);
  change(f, fmt::format("fp64={}", 1 / gain), fmt::format("fp64={}", 1 / kMinDouble));
  f.shortens_kernels = true;
  device_only(f, bound);
  f.confidence = Confidence::medium;
  if (!f.next) f.because = "kernel names show it";
  f.evidence = {see::devices("fp64_share"), see::kernels("names with double")};
  f.remedy =
      "Find the float64 source: torch.from_numpy(a).float(), dtype=torch.float32 where tensors are made, "
      "Python numbers instead of numpy scalars.";
  f.verify = "No kernel name holds double.";
  f.effort = Effort::one_line;
  return f;
}

constexpr Rule kRules[] = {
    {RuleId::P01, "matrix work runs on plain cores", true, plain_cores, kPlainDoc},
    {RuleId::P03, "double precision on the device", true, double_precision, kDoubleDoc},
};

}  // namespace

std::span<const Rule> precision_rules() { return kRules; }

}  // namespace stepscope::advise
