// Rules of communication (N), as far as one rank can tell.
#include <fmt/format.h>

#include <algorithm>

#include "advise/collective_facts.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/rules/on_cpu.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Unit;

/// Exposed time of all-gathers that the step waits for, ns in the window; 0 if they hide well.
std::int64_t waited_gathers(const Evidence& e) {
  std::int64_t count = 0, total = 0, exposed = 0;
  for (const analyze::CollectiveSize* row : collective_sizes(e)) {
    if (row->exchange != derive::Exchange::all_gather) continue;
    count += row->count;
    total += row->total;
    exposed += row->exposed;
  }
  const bool waits = count >= kMinGathers * e.steps() &&
                     static_cast<double>(exposed) >= kWaitedGathers * static_cast<double>(total) &&
                     e.share(exposed) >= kInformedShare;
  return waits ? exposed : 0;
}

constexpr std::string_view kTinyDoc =
    R"(Looks for at least `kManyCollectives` small collectives per step (`collectives`) that cost `kCollectiveShare`
of the window, exposed or on the host. A collective is small below `kSmallMessage`. Where gradients are
reduced, or may be (training, sizes not recorded), it is also small if its row's `p50` is shorter than
`kShortCollective`. Saving: replay with a tenth to half of the host time in `c10d::` ranges; unless the host
limits, also with collectives at 0 (buckets hide behind the backward pass) to 0.7 of their length. The finding
blames latency, with high confidence, only if collectives shorter than 50 µs take most of their time
(`brief`). Tensor-parallel inference needs 70 larger ones per step; the next operator waits for each, so they
cannot be merged. Without a device: as many collectives on the CPU (`host_time`) with that exposed share; the
line that calls them is the dearest by `communicating` (`lines`); saving `kMergedLeast` to `kSlowedToo` of the
exposed time.)";

std::optional<Claim> many_collectives(const Evidence& e, Bound bound) {
  if (bound == Bound::host_only) return many_collectives_on_cpu(e);
  const std::optional<TinyCollectives> tiny = tiny_collectives(e);
  if (!tiny) return std::nullopt;
  const bool host = bound == Bound::host;
  if (host && e.share(tiny->host) < kCollectiveShare) return std::nullopt;
  const std::string many = format_value(tiny->count / e.steps(), Unit::count) + " collectives per step";
  Claim f = claim(
      e, RuleId::N02,
      tiny->latency() ? fmt::format("{}, median {}: they cost latency, not bandwidth", many, ns(tiny->median))
      : host
          ? fmt::format("{}: issuing them one by one takes {} on the host", many, ns(tiny->host / e.steps()))
          : fmt::format("{}, median {}: {} per step are not hidden by compute", many, ns(tiny->median),
                        ns(tiny->exposed / e.steps())));
  const std::int64_t cost = (host ? tiny->host : tiny->exposed) / e.steps();
  save(f, cost, kMergedLeast, 1);
  change(f, {scale_any(Scale::What::host, {"c10d::", "_c10d_functional::"}, 0.1)},
         {scale_any(Scale::What::host, {"c10d::", "_c10d_functional::"}, 0.5)});
  if (!host) f.ideal.push_back(scale_of(Scale::What::comm, 0));
  if (!host) f.mild.push_back(scale_of(Scale::What::comm, 0.7));
  f.confidence = tiny->latency() ? Confidence::high : Confidence::medium;
  f.because = "their number and length are in the file";
  if (!tiny->latency())
    f.because +=
        fmt::format("; {} of their time is in collectives of 50 µs or more, which may transfer or wait",
                    percent(1 - report::ratio(tiny->brief, tiny->total)));
  if (host) f.because += "; making them shorter on the device saves nothing while the host limits";
  f.evidence = {see::collectives(
      fmt::format("{} on the device, {} exposed, {} in the host ranges that issue them",
                  per_step(e, tiny->total), ns(tiny->exposed / e.steps()), ns(tiny->host / e.steps())))};
  f.remedy =
      "Let DistributedDataParallel bucket gradients (bucket_cap_mb=25 … 100) instead of a loop over "
      "parameters; or reduce one flat tensor; wrap larger units in FSDP.";
  f.verify = "collectives: under 50 per step, each above 1 MB.";
  f.effort = Effort::code;
  return f;
}

constexpr std::string_view kSlowTransfersDoc =
    R"(Looks for collectives of at least `kLargeMessage` with a bus rate below `kSlowLinkShare` of what such devices
reach: 100 GB/s over NVLink or xGMI within a host, 10 GB/s over PCIe, 20 GB/s over the network for more than 8
ranks. The rate is that of the shortest one, which waited least for other ranks: on any rank
(`communication`), if they are matched, else on this one (`collectives`). Their exposed
time is at least `kInformedShare` of the window. Needs the sizes that PyTorch 2.3 and later record beside
collectives. Silent when the host limits.

If not all ranks of the collective are open, or no collective is matched, a rank that is late in every step
looks the same. The finding then names both causes, with low confidence, and asks for files that are missing.
Otherwise waiting (`wait_share` of `stragglers`) is excluded from the time and from the rate.

Saving: from one rank, replay with collectives shortened to the expected rate; the low end takes
`kSlowLinkPessimism` of that reduction. From several ranks, the exposed time beyond the expected transfer: at
least `kSlowLinkPessimism` of it, at most what a replay without collectives saves.)";

/// Slow links look like a rank that is late in every step: sets title, confidence, reason and remedy by what
/// is known.
void say_links(Claim& f, const SlowLinks& slow) {
  const std::string transport =
      "If these ranks are on several hosts, the network may be the limit: compare with a bandwidth test "
      "(all_reduce_perf). NCCL_DEBUG=INFO names the transport: look for disabled peer-to-peer "
      "(NCCL_P2P_DISABLE, PCIe ACS, "
      "containers without shared memory), the wrong interface (NCCL_SOCKET_IFNAME, NCCL_IB_HCA), or a "
      "topology without fabric (<<nvidia-smi topo -m||rocm-smi --showtopo||the vendor's tool shows it>>).";
  if (slow.waits) {
    f.confidence = slow.dearest->group_size <= 8 ? Confidence::medium : Confidence::low;
    f.because = fmt::format(
        "waiting for other ranks, {} of this rank's time in collectives, is excluded; the file does not show "
        "how the devices are connected",
        percent(*slow.waits));
    f.remedy = transport;
    return;
  }
  f.title += ": slow links, or a rank that is late in every step";
  f.confidence = Confidence::low;
  const bool all = slow.open >= slow.dearest->group_size;
  const std::string known = all ? "the collectives of these ranks could not be matched"
                                : fmt::format("only {} of the {} ranks {} open", slow.open,
                                              slow.dearest->group_size, slow.open == 1 ? "is" : "are");
  f.because =
      known + ": if a rank is late in every step, the others wait for it even in their fastest collective";
  f.remedy =
      fmt::format("{}If no rank holds the others up: {}",
                  all ? "" : "Add the other ranks' files: they show whether a rank is late. ", transport);
}

std::optional<Claim> slow_transfers(const Evidence& e, Bound bound) {
  const std::optional<SlowLinks> slow = slow_links(e);
  if (!slow || bound == Bound::host) return std::nullopt;
  const analyze::CollectiveSize& row = *slow->dearest;
  Claim f =
      claim(e, RuleId::N03,
            fmt::format("{} of {} among {} ranks reaches a bus rate of {} at best, {} expected",
                        row.exchange == derive::Exchange::all_reduce ? "All-reduce" : name_of(row.exchange),
                        format_value(row.bytes, Unit::bytes), format_value(row.group_size, Unit::count),
                        format_value(slow->rate, Unit::bytes_per_s),
                        format_value(slow->expected, Unit::bytes_per_s)));
  save(f, slow->beyond / e.steps(), kSlowLinkPessimism, 1.0);
  const double mild = 1 - kSlowLinkPessimism * (1 - slow->factor);
  if (slow->open == 1)
    change(f, {scale_of(Scale::What::comm, rounded(slow->factor))},
           {scale_of(Scale::What::comm, rounded(mild))});
  else
    part_of_communication(f);  // replayed alone, a rank would save its waits too
  say_links(f, *slow);
  f.evidence = {see::collectives(fmt::format("bus_rate; {} exposed", per_step(e, slow->exposed))),
                see::devices(fmt::format("exposed_communication {}",
                                         percent(e.share(e.fact(&Facts::exposed_communication)))))};
  f.verify = "collectives: bus_rate near what a bandwidth test of the same ranks reaches.";
  f.effort = Effort::hardware;
  return f;
}

constexpr std::string_view kLateDoc =
    R"(Looks for exposed all-reduces and reduce-scatters that begin late: when the first one starts, more than
`kLateReduction` of the backward pass's kernel time is over (`collectives`: before_share, median over steps).
Saving: `kHiddenLeast` to 1 of the exposed time or, if that is smaller, of the backward time that could hide
it; at most what a replay without collectives saves. Silent when the host limits, when many small collectives
explain it (N02), and when links are slow (N03): an earlier start does not help a transfer that takes longer
than the backward pass. Without a device: collectives on the CPU (`host_time`) that begin as late and are
exposed for `kInformedShare` of the window; saving 0 to the smaller of the two times, as hiding needs cores of
its own.)";

std::optional<Claim> late_start(const Evidence& e, Bound bound) {
  if (bound == Bound::host_only) return late_reduction_on_cpu(e);
  const std::optional<LateReduction> late = late_reduction(e);
  if (!late || bound == Bound::host || slow_links(e) || tiny_collectives(e)) return std::nullopt;
  Claim f =
      claim(e, RuleId::N06,
            fmt::format(
                "Gradients are reduced only after {} of the backward pass: {} per step are not hidden by it",
                percent(late->before), ns(late->exposed)));
  save(f, std::min(late->exposed, late->could_hide), kHiddenLeast, 1);
  part_of_communication(f);
  f.confidence = Confidence::medium;
  f.because = "the kernels that could hide the first reduction ran before it began";
  f.evidence = {see::collectives("reductions in the backward pass")};
  f.remedy =
      "DistributedDataParallel instead of reducing by hand; smaller buckets (bucket_cap_mb) begin earlier; "
      "no find_unused_parameters=True, or static_graph=True with it: DDP then orders its buckets itself.";
  f.verify = "collectives: before_share under 30 %.";
  f.effort = Effort::one_line;
  return f;
}

constexpr std::string_view kGatherDoc =
    R"(Looks for at least `kMinGathers` all-gathers per step exposed for at least `kWaitedGathers` of their time and
`kInformedShare` of the window: parameters that are gathered only when they are needed (FSDP, ZeRO-3). Saving:
`kPrefetchLeast` to `kPrefetchMost` of that exposed time, at most what a replay without collectives saves.)";

std::optional<Claim> gathers(const Evidence& e, Bound bound) {
  const std::int64_t exposed = waited_gathers(e);
  if (exposed == 0 || bound == Bound::host) return std::nullopt;
  Claim f = claim(e, RuleId::N07,
                  fmt::format("{}: the device waits for gathers of parameters", of_step(e, exposed)));
  save(f, exposed / e.steps(), kPrefetchLeast, kPrefetchMost);
  part_of_communication(f);
  f.confidence = Confidence::low;
  f.because = "most of the gathers' time has no compute beside it";
  f.evidence = {see::collectives("all-gather, exposed")};
  f.remedy =
      "FSDP2: set_modules_to_forward_prefetch, set_modules_to_backward_prefetch; FSDP1: "
      "BackwardPrefetch.BACKWARD_PRE, forward_prefetch=True; reshard_after_forward=False if memory allows; "
      "ZeRO-3: stage3_prefetch_bucket_size, overlap_comm.";
  f.verify = "collectives: under half of all-gather is exposed.";
  f.effort = Effort::option;
  return f;
}

constexpr std::string_view kEveryDoc =
    R"(Looks for two or more calls of DistributedDataParallel.forward per optimizer step, each followed by the same
all-reduces of at least `kSmallMessage` (`collectives`: a row's count per forward is 0.9 or more): gradients
are accumulated and still reduced each time. Saving: half to all of (k-1)/k of the exposed time of k
reductions, at most what a replay without collectives saves. Silent when the host limits.)";

std::optional<Claim> reduce_every_time(const Evidence& e, Bound bound) {
  const std::int64_t forwards = e.fact(&Facts::ddp_calls);
  if (forwards < 2 || bound == Bound::host) return std::nullopt;
  const std::int64_t updates = e.launched_in("Optimizer.step#").ranges;
  if (updates == 0 || forwards < 2 * updates) return std::nullopt;
  const std::int64_t times = forwards / updates;
  std::int64_t exposed = 0;
  for (const analyze::CollectiveSize* row : collective_sizes(e))
    if (row->exchange == derive::Exchange::all_reduce && row->bytes >= kSmallMessage &&
        static_cast<double>(row->count) >= kFullSet * static_cast<double>(times * e.steps()))
      exposed += row->exposed;
  if (exposed == 0) return std::nullopt;
  Claim f = claim(e, RuleId::N11, fmt::format("Gradients are reduced {} times per optimizer step", times));
  const double saved = static_cast<double>(times - 1) / static_cast<double>(times);
  save(f, exposed / e.steps(), saved / 2, saved);
  part_of_communication(f);
  f.confidence = Confidence::medium;
  f.because = "there are several forward passes per optimizer step, and as many sets of reductions";
  f.evidence = {see::collectives("count"), see::operators("DistributedDataParallel.forward, Optimizer.step")};
  f.remedy =
      "with model.no_sync(): around all micro-steps but the last (FSDP2: set_requires_gradient_sync(False)).";
  f.verify = "collectives: one set of reductions per optimizer step.";
  f.effort = Effort::one_line;
  return f;
}

constexpr std::string_view kExposedCommunicationDoc =
    R"(Looks for time in which only collectives run and no compute kernel, at least `kInformedShare` of the window;
confidence is low below `kCommunicationShare`. Silent when the host limits, since the collectives then fill
time that would be idle, and when a cause explains it: many small collectives (N02), slow links (N03), a late
start (N06), gathers without prefetch (N07). Saving: replay with collectives at 0.2 to 0.8 of their length.
One rank's file cannot tell transfer from waiting for other ranks, nor can those of some ranks of a group: the low
end is then 0. With several ranks, waiting is excluded (`exposed_transfer` and `transfer_overlap` of
`communication`), and so is the time in which a pipeline's stage only sends and receives
(`pipeline`). The saving is then that of the job: all ranks replayed together with transfers at 0.2 to 0.8 of
their length. If they cannot be replayed together: up to 0.8 of the exposed time.)";

std::optional<Claim> exposed_communication(const Evidence& e, Bound bound) {
  const std::optional<double> waits = waiting_share(e);
  const analyze::PipelineStage* stage = pipeline_stage(e);
  const analyze::RankExposed* known = waits ? exposed_on(e) : nullptr;
  const std::int64_t exposed = std::max<std::int64_t>(
      0, (known != nullptr ? known->exposed_transfer : e.fact(&Facts::exposed_communication)) -
             (stage != nullptr ? stage->waiting * e.steps() : 0));
  const std::optional<LateReduction> late = late_reduction(e);
  if (e.share(exposed) < kInformedShare || bound == Bound::host || tiny_collectives(e) || slow_links(e) ||
      (late && e.share(late->exposed * e.steps()) >= kInformedShare) || waited_gathers(e))
    return std::nullopt;
  const double hidden = known != nullptr ? known->transfer_overlap
                        : e.fact(&Facts::communication) > 0
                            ? 1 - report::ratio(exposed, e.fact(&Facts::communication))
                            : 0;
  Claim f = claim(e, RuleId::N01,
                  fmt::format("For {} only {} runs; compute hides {} of all {}", of_step(e, exposed),
                              known != nullptr ? "the transfer of collectives" : "communication",
                              percent(hidden), known != nullptr ? "transfers" : "communication"));
  const bool whole = all_ranks_are_open(e);
  if (const std::optional<TransferSavings> job = transfer_savings(e)) {
    f.saving_low = whole ? job->least : 0;
    f.saving_high = job->most;
  } else {
    save(f, exposed / e.steps(), 0, kOverlapMost);
    if (waits)  // replayed alone, a rank would save its waits too
      part_of_communication(f);
    else
      change(f, {scale_of(Scale::What::comm, rounded(1 - kOverlapMost))}, 0.0);
  }
  f.confidence = e.share(exposed) < kCommunicationShare ? Confidence::low : Confidence::medium;
  f.because =
      !waits ? "one rank's file cannot tell transfer from waiting for other ranks"
      : !whole
          ? "some ranks of these collectives are not open: waiting for them looks like transfer, and then "
            "nothing of it can be saved here. Add their files"
          : fmt::format("waiting for other ranks, {} of this rank's time in collectives, is excluded",
                        percent(*waits));
  f.evidence = {
      see::devices(fmt::format("exposed_communication {} of the window", percent(e.share(exposed)))),
      see::kernels("collectives by name")};
  f.remedy =
      trains(e)
          ? "Overlap or shrink it: other DDP buckets (a smaller bucket_cap_mb begins earlier, a larger one "
            "makes fewer collectives), bf16 gradients "
            "(ddp_comm_hooks.default_hooks.bf16_compress_hook), gradient accumulation with no_sync(), larger "
            "micro-batches."
          : "Spread a copy of the model over fewer devices, or overlap transfers with matrix products "
            "(asynchronous tensor parallelism of torch.compile); larger batches.";
  f.verify = "Exposed communication under 5 % of the step.";
  f.effort = Effort::code;
  return f;
}

constexpr std::string_view kBackendDoc =
    R"(Looks for the distributed backend gloo or mpi in a program that uses DDP on devices: collectives then
travel over the host. No saving is computed. Silent for the backends of devices (nccl, xccl, hccl …), where a
backend is named for each kind of device, and in recordings without devices.)";

std::optional<Claim> slow_backend(const Evidence& e, Bound bound) {
  const std::string_view backend = e.backend();
  const bool over_host =
      backend.find("gloo") != std::string_view::npos || backend.find("mpi") != std::string_view::npos;
  const bool per_device = backend.find(':') != std::string_view::npos;  // "cpu:gloo,cuda:nccl"
  if (bound == Bound::host_only || e.fact(&Facts::ddp_calls) == 0 || !over_host || per_device)
    return std::nullopt;
  Claim f =
      claim(e, RuleId::N04,
            fmt::format("DDP reduces gradients over {}, through the CPU, although the model runs on a device",
                        backend));
  f.confidence = Confidence::high;
  f.because = "the file names the backend";
  f.evidence = {see::overview("distributed backend")};
  f.remedy =
      "torch.distributed.init_process_group(<<\"nccl\")||\"nccl\"), which is RCCL here||backend): nccl on "
      "NVIDIA and AMD, xccl on Intel>>.";
  f.verify = "Collective kernels appear on the device.";
  return f;
}

constexpr Rule kCommunicationRules[] = {
    {RuleId::N02, "many small collectives", true, many_collectives, kTinyDoc},
    {RuleId::N03, "collectives are slower than the links", true, slow_transfers, kSlowTransfersDoc},
    {RuleId::N06, "gradients are reduced late", true, late_start, kLateDoc},
    {RuleId::N07, "parameters are gathered only when they are needed", true, gathers, kGatherDoc},
    {RuleId::N11, "gradients are reduced in every micro-step", true, reduce_every_time, kEveryDoc},
    {RuleId::N01, "communication is not hidden", true, exposed_communication, kExposedCommunicationDoc},
    {RuleId::N04, "collectives over a slow backend", false, slow_backend, kBackendDoc},
};

}  // namespace

std::span<const Rule> communication_rules() { return kCommunicationRules; }

}  // namespace stepscope::advise
