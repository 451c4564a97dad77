// Rules of kernels and precision (K, P).
#include <fmt/format.h>

#include "advise/cite.h"
#include "advise/constants.h"
#include "advise/families.h"
#include "advise/say.h"

namespace stepscope::advise {
namespace {

using report::Table;

std::optional<Finding> plain_cores(const Evidence& e, Bound bound) {
  const Table* devices = table_of(e.reports().devices, "Devices");
  if (devices == nullptr) return std::nullopt;
  const auto* plain = reals_of(*devices, "plain_core_share");
  const auto* busy = ints_of(*devices, "busy");
  if (plain == nullptr || busy == nullptr) return std::nullopt;
  for (std::size_t row = 0; row < plain->size(); ++row) {
    if (!e.mine(*devices, row) || !((*plain)[row] >= kPlainCoreShare)) continue;
    const auto time =
        static_cast<std::int64_t>((*plain)[row] * static_cast<double>(e.fact("compute"))) / e.steps();
    Finding f = finding(
        e, "P01", "precision",
        fmt::format(
            "{} of kernel time ({} per step) is matrix work on plain cores; this device has matrix units",
            percent((*plain)[row]), ns(time)));
    save(f, time, 1 - 1 / kLeastSpeedUp, 1 - 1 / kMostSpeedUp);
    change(f, fmt::format("plain_cores={}", 1 / kMostSpeedUp),
           fmt::format("plain_cores={}", 1 / kLeastSpeedUp));
    f.shortens_kernels = true;
    f.next = bound == Bound::host;
    if (f.next) f.saving_low = 0;
    f.confidence = Confidence::medium;
    f.because = f.next ? "the host is what limits the step now"
                       : "kernel names show it; how much a lower precision gains depends on memory traffic";
    f.evidence = "devices: plain_core_share; kernels: tensor_cores = no";
    f.remedy = lower_precision(e);
    f.verify = "Kernel names with matrix units appear; the loss curve stays.";
    f.effort = Effort::one_line;
    return f;
  }
  return std::nullopt;
}

constexpr Rule kRules[] = {
    {"P01", "precision", "matrix work runs on plain cores", true, plain_cores},
};

}  // namespace

std::span<const Rule> kernel_rules() { return kRules; }

}  // namespace stepscope::advise
