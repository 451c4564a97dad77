// Rules of communication (N), as far as one rank can tell.
#include <fmt/format.h>

#include "advise/constants.h"
#include "advise/families.h"
#include "advise/say.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Unit;

std::optional<Finding> bucket_copies(const Evidence& e, Bound) {
  if (e.fact("ddp_calls") == 0) return std::nullopt;
  const analyze::Launched copies = e.launched_in("reducer::copy_bucket_to_grad");
  if (copies.ranges < kManyFills * e.steps()) return std::nullopt;
  Finding f = finding(e, "N09", "communication",
                      fmt::format("{} gradients per step are copied into and out of their bucket",
                                  format_value(copies.ranges / e.steps(), Unit::count)));
  save(f, 0, 0, 0);
  change(f, "op:/reducer::copy_bucket_to_grad/=0", 0.0);
  f.confidence = Confidence::high;
  f.because = "the reducer's copies are in the file";
  f.evidence = "operators: copy_bucket_to_grad";
  f.remedy = "DistributedDataParallel(..., gradient_as_bucket_view=True).";
  f.verify = "No copy_bucket_to_grad remains.";
  return f;
}

std::optional<Finding> buffer_broadcast(const Evidence& e, Bound) {
  if (e.fact("ddp_calls") == 0) return std::nullopt;
  const analyze::Launched copies = e.launched_in("unflatten_dense_tensors");
  if (copies.ranges < e.steps()) return std::nullopt;
  Finding f = finding(e, "N10", "communication",
                      "Every forward broadcasts the buffers of the model, one by one into place");
  save(f, 0, 0, 0);
  change(f, "op:/flatten_dense_tensors|c10d::broadcast_/=0", kBroadcastPessimism);
  f.confidence = Confidence::high;
  f.because = "the broadcasts and what unpacks them are in the file";
  f.evidence = "operators: unflatten_dense_tensors";
  f.remedy =
      "DistributedDataParallel(..., broadcast_buffers=False) where BatchNorm statistics may differ per rank; "
      "SyncBatchNorm otherwise.";
  f.verify = "No broadcast in DistributedDataParallel.forward.";
  return f;
}

std::optional<Finding> exposed_communication(const Evidence& e, Bound bound) {
  const std::int64_t exposed = e.fact("exposed_communication");
  if (e.share(exposed) < kCommunicationShare || bound == Bound::host) return std::nullopt;
  const double hidden = e.fact("communication") > 0
                            ? 1 - static_cast<double>(exposed) / static_cast<double>(e.fact("communication"))
                            : 0;
  Finding f =
      finding(e, "N01", "communication",
              fmt::format("{} of {} per step only communication runs ({} of it is hidden behind compute)",
                          ns(exposed / e.steps()), ns(e.step_length()), percent(hidden)));
  save(f, exposed / e.steps(), 0.2, 0.8);
  change(f, "comm=0.2", "comm=0.8");
  f.confidence = Confidence::medium;
  f.because = "one rank's file cannot tell transfer from waiting for other ranks";
  f.evidence = fmt::format("devices: exposed_communication {} of the window; kernels: collectives by name",
                           percent(e.share(exposed)));
  f.remedy =
      "Overlap or shrink it: DDP buckets (bucket_cap_mb), bf16 gradients "
      "(ddp_comm_hooks.default_hooks.bf16_compress_hook), gradient accumulation with no_sync(), larger "
      "micro-batches.";
  f.verify = "Exposed communication under 5 % of the step.";
  f.effort = Effort::code;
  return f;
}

std::optional<Finding> slow_backend(const Evidence& e, Bound bound) {
  const std::string_view backend = e.configuration("distributed backend");
  if (bound == Bound::host_only || e.fact("ddp_calls") == 0 || backend.empty() ||
      backend.find("nccl") != std::string_view::npos)
    return std::nullopt;
  Finding f = finding(e, "N04", "communication",
                      fmt::format("Gradients travel over the {} backend although devices are used", backend));
  f.confidence = Confidence::high;
  f.because = "the file names the backend";
  f.evidence = "overview: distributed backend";
  f.remedy = "torch.distributed.init_process_group(\"nccl\") (the same name on ROCm; xccl on XPU).";
  f.verify = "Collective kernels appear on the device.";
  return f;
}

constexpr Rule kRules[] = {
    {"N09", "communication", "gradients are copied into and out of buckets", true, bucket_copies},
    {"N10", "communication", "buffers are broadcast in every forward", true, buffer_broadcast},
    {"N01", "communication", "communication is not hidden", true, exposed_communication},
    {"N04", "communication", "collectives over a slow backend", false, slow_backend},
};

}  // namespace

std::span<const Rule> communication_rules() { return kRules; }

}  // namespace stepscope::advise
