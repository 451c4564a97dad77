#include "advise/rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/cite.h"
#include "report/units.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Ints;
using report::Table;
using report::Texts;
using report::Unit;

std::string ns(std::int64_t time) { return format_value(time, Unit::ns); }
std::string percent(double share) { return format_value(share, Unit::share); }

/// Thresholds and ranges, each with its source.
constexpr double kLoaderShare =
    0.05;  // the TensorBoard plugin's; below it a worker's queue costs as much as it saves
constexpr double kWorkerPessimism =
    0.6;  // measured on a pair of runs: 36.5 of 59 ms were gained by num_workers 0 -> 4
constexpr double kStarvedPessimism = 0.5;     // the cores may be used up: chosen
constexpr double kSyncPessimism = 0.3;        // the next read may block instead: chosen
constexpr double kAllocationPessimism = 0.5;  // chosen
constexpr double kPromptShare = 0.5;  // of kernels that start within 10 µs of their launch: 57 to 97 % in
                                      // launch-bound traces, at most 21 % in others
constexpr std::int64_t kFewestKernels = 20;   // per step; chosen
constexpr double kCommunicationShare = 0.10;  // the plugin's
constexpr double kLateIdleShare = 0.10;
constexpr double kSyncShare = 0.03;
constexpr double kPlainCoreShare = 0.10;
constexpr double kLeastSpeedUp = 1.5, kMostSpeedUp = 3;  // of lower precision: memory-bound, matrix products
constexpr double kMemoryShare = 0.90;                    // the plugin's

Finding finding(const Evidence& e, const char* id, const char* category, std::string title) {
  Finding f;
  f.id = id;
  f.category = category;
  f.title = std::move(title);
  f.rank = e.rank();
  return f;
}

void save(Finding& f, std::int64_t time_per_step, double low, double high) {
  f.saving_low = static_cast<std::int64_t>(static_cast<double>(time_per_step) * low);
  f.saving_high = static_cast<std::int64_t>(static_cast<double>(time_per_step) * high);
}

std::vector<analyze::Scale> scales(std::string_view text) { return analyze::parse_scales(text).value(); }

/// The change that replay makes for the saving; its least form is `pessimism` times that.
void change(Finding& f, std::string_view ideal, double pessimism) {
  f.ideal = scales(ideal);
  f.pessimism = pessimism;
}
void change(Finding& f, std::string_view ideal, std::string_view mild) {
  f.ideal = scales(ideal);
  f.mild = scales(mild);
}

/// "op 9.95 ms, python 1.36 ms": idle time by those of the causes that have any, most first.
std::string listed_causes(const Evidence& e, std::vector<std::string_view> causes) {
  std::stable_sort(causes.begin(), causes.end(),
                   [&](std::string_view a, std::string_view b) { return e.idle(a) > e.idle(b); });
  std::string out;
  for (const std::string_view cause : causes)
    if (e.idle(cause) > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", cause, ns(e.idle(cause)));
  return out;
}

/// "single-process" or "multi-process", "" when no loader was recorded.
std::string loader_kind(const Evidence& e) {
  for (const Table& table : e.reports().input_wait.tables) {
    const Texts* kinds = texts_of(table, "kind");
    for (std::size_t row = 0; kinds != nullptr && row < kinds->size(); ++row)
      if (e.mine(table, row) && !(*kinds)[row].empty()) return (*kinds)[row];
  }
  return "";
}

std::optional<Finding> slow_loader(const Evidence& e, Bound bound) {
  const bool host_only = bound == Bound::host_only;
  const std::int64_t waited = host_only ? e.fact("host_data_loading") : e.idle("input");
  if (e.share(waited) < kLoaderShare) return std::nullopt;
  const std::int64_t per_step = waited / e.steps();
  const bool in_main = loader_kind(e).find("single") != std::string::npos;
  Finding f =
      finding(e, in_main ? "I01" : "I02", "input",
              fmt::format("{} of {} per step: {} {}", ns(per_step), ns(e.step_length()),
                          host_only ? "the program" : "the device",
                          in_main ? "waits while the training process itself loads data (num_workers=0)"
                                  : "waits for the data loader"));
  save(f, per_step, in_main ? kWorkerPessimism : kStarvedPessimism, 1.0);
  change(f, "data_loading=0", in_main ? kWorkerPessimism : kStarvedPessimism);
  f.confidence = in_main ? Confidence::high : Confidence::medium;
  f.because =
      in_main ? "the loader's class runs in the training process, and the wait is measured where the device "
                "is idle"
              : "the wait is measured where the device is idle; why the workers are late is not in this file";
  f.evidence = fmt::format("{} in the window ({})", ns(waited), percent(e.share(waited)));
  f.evidence = host_only ? "input_wait: per step, " + f.evidence
                         : "idle: cause input, " + f.evidence + "; input_wait: per step";
  if (host_only) f.because = "the loader's range is in the file; no device is recorded";
  const std::int64_t rest = std::max<std::int64_t>(1, e.step_length() - per_step);
  const std::int64_t workers = std::clamp<std::int64_t>((per_step + rest - 1) / rest + 1, 2, 32);
  f.remedy = in_main ? fmt::format(
                           "DataLoader(..., num_workers={}, persistent_workers=True{}): loading takes {} a "
                           "batch, the rest of the step {}.",
                           workers, host_only ? "" : ", pin_memory=True", ns(per_step), ns(rest))
                     : "More workers up to the cores; if they are busy, move decoding out of them or cache "
                       "it; raise prefetch_factor.";
  f.verify = "The loader's share of the step falls under 2 %, and other host rows grow by less than 10 %.";
  f.effort = Effort::option;
  return f;
}

std::optional<Finding> blocking(const Evidence& e, Bound) {
  const std::int64_t cost = e.idle("sync") + e.idle("refill");
  if (e.share(cost) < kSyncShare) return std::nullopt;
  const std::optional<WaitingCall> wait = dearest_wait(e);
  Finding f = finding(
      e, "S01", "sync",
      fmt::format("{} of {} per step: {} the device's queue", ns(cost / e.steps()), ns(e.step_length()),
                  wait ? wait->what + wait->where + " drains" : "blocking calls drain"));
  save(f, cost / e.steps(), kSyncPessimism, 1.0);
  change(f, "sync=0", kSyncPessimism);
  f.confidence = Confidence::medium;
  f.because = "the device is idle inside these calls and after them until the next launch";
  f.evidence = fmt::format("{}idle: causes sync and refill, {} in the window",
                           wait ? "synchronizations: " + wait->detail + "; " : "", ns(cost));
  f.remedy =
      wait ? wait->remedy
           : "Keep values on the device: drop .item(), .cpu(), nonzero and print in the step, or do them "
             "once every N steps; copy with non_blocking=True from pinned memory.";
  f.verify = "`stepscope show synchronizations` no longer lists the call with a cost.";
  f.effort = Effort::one_line;
  return f;
}

std::optional<Finding> allocation(const Evidence& e, Bound) {
  const std::int64_t cost = e.idle("alloc");
  if (e.share(cost) < 0.01) return std::nullopt;
  Finding f = finding(e, "A01", "memory",
                      fmt::format("{} of {} per step: device memory is allocated or freed inside the step",
                                  ns(cost / e.steps()), ns(e.step_length())));
  save(f, cost / e.steps(), kAllocationPessimism, 1.0);
  change(f, "alloc=0", kAllocationPessimism);
  f.confidence = Confidence::medium;
  f.because = "a warm caching allocator makes no such calls";
  f.evidence = fmt::format("idle: cause alloc, {} in the window{}", ns(cost), longest_idle(e, "alloc"));
  f.remedy =
      "Remove empty_cache() from the loop; PYTORCH_ALLOC_CONF=expandable_segments:True; keep shapes fixed.";
  f.verify = "No malloc or free calls of the runtime remain in steady steps.";
  return f;
}

std::optional<Finding> launch_bound(const Evidence& e, Bound bound) {
  std::int64_t late = 0;
  for (const char* cause : {"launch", "runtime", "op", "python", "annotation", "untraced"})
    late += e.idle(cause);
  const std::int64_t kernels = e.fact("kernels") / e.steps();
  if (bound != Bound::host || e.share(late) < kLateIdleShare || kernels < kFewestKernels ||
      e.bound_share("prompt") < kPromptShare)
    return std::nullopt;
  const std::int64_t mean = e.fact("kernels") > 0 ? e.fact("busy") / e.fact("kernels") : 0;
  Finding f = finding(e, "H01", "host",
                      fmt::format("The device idles {} of the time because the host issues its {} kernels "
                                  "per step (mean {}) too slowly",
                                  percent(e.share(late)), format_value(kernels, Unit::count), ns(mean)));
  save(f, late / e.steps(), 0.3, 0.9);
  f.confidence = e.share(e.fact("profiler_estimate")) >= 0.2 ? Confidence::low : Confidence::medium;
  f.because = f.confidence == Confidence::low ? "recording itself slowed the host visibly"
                                              : "the gaps end with launches that the host made late";
  f.evidence = "idle: " + listed_causes(e, {"op", "python", "annotation", "launch", "runtime", "untraced"}) +
               " in the window" + longest_idle(e, "") + "; launches: by stream";
  f.remedy =
      "In this order: a larger batch if memory allows; torch.compile(model, mode=\"reduce-overhead\"); " +
      device_graphs(e) + " for fixed shapes; fused optimizers and modules.";
  f.verify =
      "Idle time under 10 %, graph launches appear, kernels start later than 10 µs after their launch.";
  f.effort = Effort::one_line;
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

std::optional<Finding> data_parallel(const Evidence& e, Bound) {
  const Table* devices = table_of(e.reports().devices, "Devices");
  if (e.fact("data_parallel_calls") == 0 || devices == nullptr || devices->rows() < 2) return std::nullopt;
  Finding f =
      finding(e, "H08", "host",
              fmt::format("torch.nn.DataParallel drives {} devices from one process", devices->rows()));
  f.confidence = Confidence::high;
  f.because = "its forward is in the trace";
  f.evidence = "operators: DataParallel.forward";
  f.remedy = "Use torch.nn.parallel.DistributedDataParallel, one process per device (torchrun).";
  f.verify = "DistributedDataParallel.forward appears instead.";
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

std::optional<Finding> memory_limit(const Evidence& e, Bound) {
  const Table* peaks = table_of(e.reports().memory_events, "Peak");
  const Table* devices = table_of(e.reports().devices, "Devices");
  if (peaks == nullptr || devices == nullptr) return std::nullopt;
  const Texts* where = texts_of(*peaks, "device");
  const Ints* peak = ints_of(*peaks, "peak_allocated");
  const Ints* device = ints_of(*devices, "device");
  const Ints* total = ints_of(*devices, "memory");
  if (where == nullptr || peak == nullptr || device == nullptr || total == nullptr) return std::nullopt;
  for (std::size_t p = 0; p < peak->size(); ++p) {
    for (std::size_t d = 0; d < device->size(); ++d) {
      if (!e.mine(*peaks, p) || !e.mine(*devices, d) || (*total)[d] <= 0 ||
          !(*where)[p].ends_with(" " + std::to_string((*device)[d])))
        continue;
      const double share = static_cast<double>((*peak)[p]) / static_cast<double>((*total)[d]);
      if (share <= kMemoryShare) continue;
      Finding f =
          finding(e, "A02", "memory",
                  fmt::format("Device {} is nearly full: peak {} of {}", (*device)[d],
                              format_value((*peak)[p], Unit::bytes), format_value((*total)[d], Unit::bytes)));
      f.confidence = Confidence::medium;
      f.because = "the allocator reports it; a risk, not a cost of time";
      f.evidence = "memory_events: peak, and what was alive then";
      f.remedy =
          "Checkpoint activations, zero_grad(set_to_none=True), mixed precision, a smaller micro-batch with "
          "accumulation.";
      f.verify = "Peak under 90 %.";
      f.effort = Effort::code;
      return f;
    }
  }
  return std::nullopt;
}

constexpr Rule kRules[] = {
    {"I01", "input", "the training process itself loads data, or its workers are late (I02)", false,
     slow_loader},
    {"S01", "sync", "blocking calls drain the queue", true, blocking},
    {"A01", "memory", "device memory is allocated inside the step", true, allocation},
    {"H01", "host", "kernels are issued too slowly", true, launch_bound},
    {"N01", "communication", "communication is not hidden", true, exposed_communication},
    {"P01", "precision", "matrix work runs on plain cores", true, plain_cores},
    {"H08", "host", "DataParallel instead of DistributedDataParallel", false, data_parallel},
    {"N04", "communication", "collectives over a slow backend", false, slow_backend},
    {"A02", "memory", "device memory is nearly full", false, memory_limit},
};

}  // namespace

std::span<const Rule> rules() { return kRules; }

}  // namespace stepscope::advise
