// Rules of DistributedDataParallel's own copies (N).
#include <fmt/format.h>

#include <algorithm>

#include "advise/collective_facts.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Unit;

constexpr std::string_view kBucketDoc =
    R"(Looks for DDP's `copy_bucket_to_grad` ranges, at least `kManyFills` per step. The number of copies is no sign:
a clone per parameter makes as many, so the range must be there. Saving: replay without what these ranges call
and launch; their own time stays. It is mostly under 1 % of the step when the device limits. If the recording
cannot be replayed: the idle time in what they call and, unless the host limits, the time of the copies.)";

std::optional<Claim> bucket_copies(const Evidence& e, Bound bound) {
  if (e.fact(&Facts::ddp_calls) == 0) return std::nullopt;
  const analyze::Launched& copies = e.launched_in("reducer::copy_bucket_to_grad");
  if (copies.ranges < kManyFills * e.steps()) return std::nullopt;
  Claim f = claim(e, RuleId::N09,
                  fmt::format("{} gradients per step are copied into and out of their bucket",
                              format_value(copies.ranges / e.steps(), Unit::count)));
  // The range's own work stays: it is done for a view as well.
  const double kept = copies.host > 0 ? 1 - std::min(1.0, report::ratio(copies.called, copies.host)) : 0;
  const auto idle = static_cast<std::int64_t>((1 - kept) * static_cast<double>(copies.idle));
  save(f, report::plus(idle, bound == Bound::host ? 0 : copies.device) / e.steps(), 0, 1);
  change(f,
         {scale_any(Scale::What::host, {"reducer::copy_bucket_to_grad"}, kept),
          scale_any(Scale::What::device, {"reducer::copy_bucket_to_grad"}, 0)},
         0.0);
  f.confidence = Confidence::high;
  f.because = "the reducer's copies are in the file";
  f.evidence = {see::operators("copy_bucket_to_grad")};
  f.remedy = "DistributedDataParallel(..., gradient_as_bucket_view=True).";
  f.verify = "No copy_bucket_to_grad remains.";
  return f;
}

constexpr std::string_view kBroadcastDoc =
    R"(Looks for `unflatten_dense_tensors`, at least once per step, in a program that calls
DistributedDataParallel.forward: DDP broadcasts buffers from rank 0 and unpacks them one by one. Saving:
replay without both, at least `kBroadcastPessimism` of it. That is much where the host limits, and next to
nothing where the device does. If the recording cannot be replayed: the idle time inside these ranges.

Where no device works: `gloo:broadcast` once to kMostBroadcasts times per step and kCollectiveShare of the window. Saving:
kBroadcastPessimism to kSlowedToo of its time.)";

constexpr const char* kNoBroadcast =
    "DistributedDataParallel(..., broadcast_buffers=False), from PyTorch 2.13 on forward_sync_buffers=False, "
    "if each rank may keep its own buffers, such as BatchNorm's statistics; broadcast them once before an "
    "evaluation or a checkpoint. A constant table belongs outside the module, or in a parameter with "
    "requires_grad=False.";

/// The ranks of the CPU's jobs wait in each broadcast.
std::optional<Claim> broadcast_on_cpu(const Evidence& e) {
  const analyze::Launched& broadcasts = e.launched_in("gloo:broadcast");
  if (broadcasts.ranges < e.steps() || broadcasts.ranges > kMostBroadcasts * e.steps() ||
      e.share(broadcasts.host) < kCollectiveShare)
    return std::nullopt;
  Claim f = claim(
      e, RuleId::N10,
      fmt::format("Every forward pass broadcasts the model's buffers: {}", of_step(e, broadcasts.host)));
  save(f, broadcasts.host / e.steps(), kBroadcastPessimism, kSlowedToo);
  f.confidence = Confidence::high;
  f.because = "the broadcasts are in the file";
  f.evidence = {see::operators("gloo:broadcast")};
  f.remedy = kNoBroadcast;
  f.verify = "No broadcast in DistributedDataParallel.forward.";
  return f;
}

std::optional<Claim> buffer_broadcast(const Evidence& e, Bound bound) {
  if (e.fact(&Facts::ddp_calls) == 0) return std::nullopt;
  if (bound == Bound::host_only) return broadcast_on_cpu(e);
  const analyze::Launched& copies = e.launched_in("unflatten_dense_tensors");
  if (copies.ranges < e.steps()) return std::nullopt;
  Claim f = claim(e, RuleId::N10,
                  "Every forward pass broadcasts the model's buffers and copies them back one by one");
  save(f, copies.idle / e.steps(), kBroadcastPessimism, 1);
  change(f, {scale_any(Scale::What::op, {"flatten_dense_tensors", "c10d::broadcast_"}, 0)},
         kBroadcastPessimism);
  f.confidence = Confidence::high;
  f.because = "the broadcasts and their unpacking are in the file";
  f.evidence = {see::operators("unflatten_dense_tensors")};
  f.remedy = kNoBroadcast;
  f.verify = "No broadcast in DistributedDataParallel.forward.";
  return f;
}

/// The model's calls per step, and the collectives of all backward passes of a step.
std::optional<Claim> reduced_too_often(const Evidence& e, Bound bound) {
  const std::int64_t passes = e.fact(&Facts::ddp_calls) / e.steps();
  if (bound != Bound::host_only || passes < 2 || e.fact(&Facts::complete_steps) < kStepsToTrust)
    return std::nullopt;
  const CollectivesOnCpu all = collectives_on_cpu(e);
  if (all.count < passes * e.steps() || e.share(all.exposed) < kCollectiveShare) return std::nullopt;
  Claim f =
      claim(e, RuleId::N12,
            fmt::format("Gradients are reduced in each of {} backward passes per optimizer step, {} "
                        "collectives per step: {} are not hidden by compute",
                        passes, format_value(all.count / e.steps(), Unit::count), of_step(e, all.exposed)));
  const double saved = 1 - 1 / static_cast<double>(passes);
  save(f, all.exposed / e.steps(), kHiddenLeast * saved, kSlowedToo * saved);
  f.confidence = Confidence::high;
  f.because = "the passes, the collectives and the optimizer's steps are in the file";
  f.evidence = {see::host_time("collectives on the CPU")};
  f.remedy =
      "Run all but the last of these passes inside `with model.no_sync():`, so that the gradients are "
      "reduced "
      "once per optimizer step.";
  f.verify = "A step has as many collectives as one backward pass.";
  f.effort = Effort::one_line;
  return f;
}

constexpr Rule kDdpRules[] = {
    {RuleId::N12, "gradients are reduced in every backward pass of a step", false, reduced_too_often,
     R"(Looks at: `ddp_calls` and `complete_steps` of `overview`, *Collectives on the CPU* of `host_time`. Fires, where
no device works, if the model is called at least twice per step, each of its backward passes has a collective,
and kCollectiveShare of the window is exposed communication.

Saving: kHiddenLeast to kSlowedToo of the exposed communication of all passes but one.

Silent on: one pass per step; steps that are not known.)"},
    {RuleId::N09, "gradients are copied into and out of buckets", true, bucket_copies, kBucketDoc},
    {RuleId::N10, "buffers are broadcast in every forward", true, buffer_broadcast, kBroadcastDoc},
};

}  // namespace

std::span<const Rule> ddp_rules() { return kDdpRules; }

}  // namespace stepscope::advise
