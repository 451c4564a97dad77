// Rules of copies between host and device (C).
#include <fmt/format.h>

#include <algorithm>

#include "advise/cite.h"
#include "advise/device_work.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/say.h"
#include "advise/see.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Unit;

bool to_device(const OperatorCopies& copy) { return copy.direction == CopyDirection::to_device; }
bool of_host(const OperatorCopies& copy) {
  return to_device(copy) || copy.direction == CopyDirection::to_host;
}
bool is_pinned(const OperatorCopies& copy) { return copy.memory == HostMemory::pinned; }

/// " by aten::to"; "" when no operator asked for the copies.
std::string asked_by(const std::string& op) { return op.empty() ? "" : " by " + op; }

constexpr std::string_view kPageableDoc =
    R"(Looks for `Pageable -> Device` rows of `copies` with at least `kPageableBytes` per step: the runtime
copies such memory through a buffer of its own, and the host stays in the call meanwhile. Saving: replay with
calls that take no time and copies at the rate that pinned memory reaches on the device's generation of PCIe;
at least `kPageablePessimism` of it. If the recording cannot be replayed: what that rate takes off the copies'
exposed time. Confidence is high when the calls are as long as the copies, which shows that the host waits.
From 0 where the training process itself loads the data: it then pays for pinning. Silent for small copies, for start-up uploads outside the steps, and for recorders that do not name the kind
of host memory (ROCm often writes only `Host`).)";

std::optional<Claim> pageable_copy(const Evidence& e, Bound) {
  const CopySum copies = copies_of(
      e, [](const OperatorCopies& copy) { return to_device(copy) && copy.memory == HostMemory::pageable; });
  const std::int64_t bytes = copies.bytes / e.steps();
  if (copies.total <= 0 || bytes < kPageableBytes) return std::nullopt;
  const double rate = static_cast<double>(copies.bytes) / (static_cast<double>(copies.total) * 1e-9);
  Claim f = claim(e, RuleId::C01,
                  fmt::format("{} per step are copied from pageable memory at {}",
                              format_value(bytes, Unit::bytes), format_value(rate, Unit::bytes_per_s)));
  const double left = std::min(1.0, rate / pinned_rate(e));
  const bool loads_itself = e.loader_kind() == analyze::LoaderKind::single_process;
  const double least = loads_itself ? 0 : kPageablePessimism;
  save(f, copies.exposed / e.steps(), least * (1 - left), 1 - left);
  change(f,
         {scale_any(Scale::What::call, {"HtoD (Pageable"}, 0),
          scale_any(Scale::What::kernel, {"HtoD (Pageable"}, left)},
         least);
  const bool waits = static_cast<double>(copies.host) >= kWaitingCalls * static_cast<double>(copies.total);
  f.confidence = waits ? Confidence::high : Confidence::medium;
  f.because = waits ? "the copies are named pageable, and their calls return only when they are done"
                    : "the copies are named pageable";
  if (loads_itself) {
    f.confidence = Confidence::low;
    f.because += "; without workers, the training process itself copies each batch into pinned memory";
  }
  f.evidence = {see::copies(fmt::format("{} copies{} in all steps; {} on the device, {} in their calls",
                                        format_value(copies.count, Unit::count), asked_by(copies.op),
                                        per_step(e, copies.total), per_step(e, copies.host)))};
  f.remedy = fmt::format(
      "DataLoader(..., {}pin_memory=True) and tensor.to(device, non_blocking=True). A batch that no "
      "DataLoader "
      "makes: tensor.pin_memory() once.",
      loads_itself ? "num_workers=N, " : "");
  f.verify = "The copies are named Pinned -> Device and no call waits for them.";
  return f;
}

constexpr std::string_view kExposedCopyDoc =
    R"(Looks for copies from pinned memory to the device (`copies`) whose `exposed` time is at least `kCopyShare` of
the window: nothing else runs while the step's input arrives. Saving: replay with these copies at 0.1 (high
end) to 0.7 of their length. Silent for copies that fill a wait for something else and save nothing, for
pageable copies (C01), and for copies inside the device (C05).)";

std::optional<Claim> exposed_copy(const Evidence& e, Bound bound) {
  const CopySum copies =
      copies_of(e, [](const OperatorCopies& copy) { return to_device(copy) && is_pinned(copy); });
  if (e.share(copies.exposed) < kCopyShare) return std::nullopt;
  Claim f = claim(e, RuleId::C02,
                  fmt::format("For {} only copies to the device run: {} in {} copies{}",
                              of_step(e, copies.exposed), format_value(copies.bytes / e.steps(), Unit::bytes),
                              format_value(copies.count / e.steps(), Unit::count), asked_by(copies.op)));
  save(f, copies.exposed / e.steps(), kCopyLeast, kCopyMost);
  change(f, {scale_any(Scale::What::kernel, {"HtoD (Pinned"}, 0.1)},
         {scale_any(Scale::What::kernel, {"HtoD (Pinned"}, 0.7)});
  device_only(f, bound);
  f.confidence = Confidence::medium;
  if (!f.next) f.because = "the copies come from pinned memory, so they could run beside compute";
  f.evidence = {see::copies(
      fmt::format("{} exposed of {}", ns(copies.exposed / e.steps()), per_step(e, copies.total)))};
  f.remedy =
      "Copy the next batch on a side stream while this one computes: torch.cuda.Stream() with .to(device, "
      "non_blocking=True), an event that the compute stream waits for, tensor.record_stream().";
  f.verify = "copies: exposed near 0; the copies run on a stream of their own.";
  f.effort = Effort::code;
  return f;
}

constexpr std::string_view kSlowLinkDoc =
    R"(Looks at copies of at least 8 MB between pinned memory and the device: the median rate (`copies`,
column `large_rate`) is below `kLinkShare` of what pinned copies reach on this generation of device. Saving: 0
to what replay gains with these copies at that rate; the low end is 0, as neighbours that use the link at the
same time look the same. Silent for copies that hide behind compute: no saving there. Confidence is
low.)";

std::optional<Claim> slow_link(const Evidence& e, Bound bound) {
  const CopySum copies =
      copies_of(e, [](const OperatorCopies& copy) { return of_host(copy) && is_pinned(copy); });
  const double expected = pinned_rate(e);
  if (copies.large == 0 || copies.slowest_large >= kLinkShare * expected) return std::nullopt;
  Claim f = claim(e, RuleId::C03,
                  fmt::format("Large copies between host and device reach {}; about {} is expected",
                              format_value(copies.slowest_large, Unit::bytes_per_s),
                              format_value(expected, Unit::bytes_per_s)));
  save(f, copies.exposed / e.steps(), 0, 1 - copies.slowest_large / expected);
  change(f, {scale_any(Scale::What::kernel, {"(Pinned", "-> Pinned"}, copies.slowest_large / expected)}, 0.0);
  device_only(f, bound);
  f.confidence = Confidence::low;
  if (!f.next) f.because = "one rank's file does not show who else used the link";
  f.evidence = {
      see::copies(fmt::format("large_rate of {} copies of 8 MB and more; {} exposed",
                              format_value(copies.large, Unit::count), per_step(e, copies.exposed)))};
  f.remedy =
      "Look at the width and generation of the link <<(nvidia-smi "
      "--query-gpu=pcie.link.gen.current,pcie.link.width.current --format=csv while it runs)||(amd-smi "
      "metric "
      "--pcie)||of the device>>, at NUMA placement (numactl, torchrun --numa-binding=node), and at devices "
      "that share a switch.";
  f.verify = "copies: large_rate near the link's rate.";
  f.effort = Effort::hardware;
  return f;
}

constexpr std::string_view kSmallDoc =
    R"(Looks for at least `kMinSmallCopies` copies below 64 KiB between host and device per step (`copies`,
column `small`) whose calls and exposed time take `kSmallCopyShare` of the window. Saving: 0.3 to 0.9 of their
host time and exposed time (only of the exposed time when the device limits), as replay cannot select these
calls by name. Silent for serving steps with a dozen such copies.)";

std::optional<Claim> small_copies(const Evidence& e, Bound bound) {
  const CopySum copies = copies_of(e, of_host);
  if (copies.small < kMinSmallCopies * e.steps()) return std::nullopt;
  const double small = static_cast<double>(copies.small) / static_cast<double>(copies.count);
  const std::int64_t lost = bound == Bound::device ? copies.exposed : copies.exposed + copies.host;
  const auto cost = static_cast<std::int64_t>(small * static_cast<double>(lost));
  if (e.share(cost) < kSmallCopyShare) return std::nullopt;
  Claim f = claim(e, RuleId::C04,
                  fmt::format("{} copies below 64 KiB per step cost {}{}",
                              format_value(copies.small / e.steps(), Unit::count), ns(cost / e.steps()),
                              copies.op.empty() ? "" : ", most of them " + copies.op));
  save(f, cost / e.steps(), kCopyLeast, kCopyMost);
  f.confidence = Confidence::medium;
  f.because = "each copy costs a call, however small it is";
  f.evidence = {see::copies(fmt::format("small; {} in their calls", per_step(e, copies.host)))};
  f.remedy =
      "Pack them into one tensor and split it on the device; build masks, positions and constants there "
      "(device=...), or keep them as buffers of the module.";
  f.verify = "copies: fewer than 30 small ones per step.";
  f.effort = Effort::code;
  return f;
}

constexpr std::string_view kCreatedDoc =
    R"(Looks for copies to the device by aten::to of a tensor that the operator right before it made on the
host (`copies`, column `created`: aten::zeros, aten::arange, …), at least `kMinCreated` per step. Saving:
their share of the copies' host and exposed time × 0.3 to 0.9; only of the exposed time when the device
limits. Silent for tensors that come from a data loader.)";

std::optional<Claim> created_on_host(const Evidence& e, Bound bound) {
  const CopySum copies = copies_of(e, to_device);
  if (copies.created < kMinCreated * e.steps()) return std::nullopt;
  const double created = static_cast<double>(copies.created) / static_cast<double>(copies.count);
  const std::int64_t lost = bound == Bound::device ? copies.exposed : copies.exposed + copies.host;
  Claim f = claim(e, RuleId::C06,
                  fmt::format("{} tensors per step are made on the host and then moved to the device",
                              format_value(copies.created / e.steps(), Unit::count)));
  save(f, static_cast<std::int64_t>(created * static_cast<double>(lost)) / e.steps(), kCopyLeast, kCopyMost);
  f.confidence = Confidence::low;
  f.because = "the operator before each copy makes a tensor";
  f.evidence = {see::copies("created")};
  f.remedy =
      "Make them where they are used: torch.zeros(..., device=device), torch.arange(..., device=device).";
  f.verify = "copies: created is 0.";
  f.effort = Effort::one_line;
  return f;
}

constexpr Rule kCopyRules[] = {
    {RuleId::C01, "batches are copied from pageable memory", true, pageable_copy, kPageableDoc},
    {RuleId::C02, "nothing runs while batches are copied", true, exposed_copy, kExposedCopyDoc},
    {RuleId::C03, "large copies are slower than the link", true, slow_link, kSlowLinkDoc},
    {RuleId::C04, "many small copies between host and device", true, small_copies, kSmallDoc},
    {RuleId::C06, "tensors are made on the host and moved", true, created_on_host, kCreatedDoc},
};

}  // namespace

std::span<const Rule> copy_rules() { return kCopyRules; }

}  // namespace stepscope::advise
