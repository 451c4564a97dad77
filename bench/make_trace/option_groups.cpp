#include "make_trace/option_groups.h"

#include <map>

namespace stepscope::make_trace {
namespace {

const std::map<std::string, DialectKind> kDialects = {
    {"ns", DialectKind::ns}, {"us", DialectKind::us}, {"2021", DialectKind::y2021}};
const std::map<std::string, VendorKind> kVendors = {
    {"cuda", VendorKind::cuda}, {"rocm", VendorKind::rocm}, {"xpu", VendorKind::xpu}};

void add_job(CLI::App& app, Options& o) {
  const char* group = "The job";
  app.add_option("--ranks", o.ranks, "Ranks, one file each")->check(CLI::Range(1, 4096))->group(group);
  app.add_option("--ranks-per-host", o.ranks_per_host, "Ranks that share a host name")
      ->check(CLI::Range(1, 64))
      ->group(group);
  app.add_option("--steps", o.steps, "Recorded steps")->check(CLI::Range(1, 1000000))->group(group);
  app.add_option("--warmup", o.warmup, "Steps simulated before recording starts")
      ->check(CLI::Range(0, 1000))
      ->group(group);
  app.add_option("--streams", o.streams, "Compute streams; above 1, weight gradients run beside the others")
      ->check(CLI::Range(1, 16))
      ->group(group);
  app.add_option("--layers", o.layers, "Blocks of the model")->check(CLI::Range(1, 512))->group(group);
  app.add_option("--hidden", o.hidden, "Width of the model")->check(CLI::Range(64, 16384))->group(group);
  app.add_option("--tokens", o.tokens, "Tokens per rank and step")
      ->check(CLI::Range(64, 1048576))
      ->group(group);
  app.add_option("--seed", o.seed, "Same seed, same bytes")->group(group);
  app.add_option("--host-cost", o.host_cost, "Factor on what Python and ops cost, runtime calls excepted")
      ->check(CLI::Range(0.01, 100.0))
      ->group(group);
  app.add_option("--noise", o.noise_pct, "Standard deviation of every duration, percent")
      ->check(CLI::Range(0.0, 30.0))
      ->group(group);
}

void add_more_job(CLI::App& app, Options& o) {
  const char* group = "More of the job";
  app.add_option("--epoch", o.epoch, "Steps per epoch; 0 never ends")
      ->check(CLI::Range(0, 1000000))
      ->group(group);
  app.add_option("--prefetch", o.prefetch, "Batches each loader worker is ahead")
      ->check(CLI::Range(1, 64))
      ->group(group);
  app.add_flag("--inference", o.inference, "Forward only, no gradients")->group(group);
  app.add_flag("--tensor-parallel", o.tensor_parallel, "Add up activations over the ranks after each linear")
      ->group(group);
  app.add_option(
         "--stages", o.stages,
         "Ranks hold one of P stages of the model each; a multiple of P ranks makes replicas of the pipeline")
      ->check(CLI::Range(2, 256))
      ->group(group);
  app.add_option("--micro-batches", o.micro_batches, "With --stages: a step's tokens pass in N pieces")
      ->check(CLI::Range(1, 4096))
      ->group(group);
  app.add_option("--last-stage-layers", o.last_stage_layers, "With --stages: the last one has N blocks more")
      ->check(CLI::Range(0, 512))
      ->group(group);
  app.add_flag("--checkpointing", o.checkpointing, "Backward computes activations again")->group(group);
  app.add_option("--held-gb", o.held_gb, "Device memory in use from the start (see --memory)")
      ->check(CLI::Range(0.0, 60.0e3))
      ->group(group);
  app.add_option("--features", o.features, "Width of a frozen projection before the blocks")
      ->check(CLI::Range(0, 1 << 20))
      ->group(group);
  app.add_flag("--compiled", o.compiled, "The model is compiled: each step looks its shapes up")
      ->group(group);
  app.add_option("--python-calls", o.python_calls,
                 "N trivial Python calls per step, which cost only what --stacks costs to record them")
      ->check(CLI::Range(0, 1000000))
      ->group(group);
  app.add_option("--launch-scale", o.launch_scale,
                 "Factor on launching a kernel: the call, and its way to the device")
      ->check(CLI::Range(0.0, 100.0))
      ->group(group);
  app.add_option("--network-scale", o.network_scale,
                 "Factor on what collectives take once all ranks are there")
      ->check(CLI::Range(0.0, 100.0))
      ->group(group);
  app.add_option("--cold-start", o.cold_start_ms, "The first recorded step sets the device up for MS")
      ->check(CLI::Range(0.0, 1e5))
      ->group(group);
}

void add_output(CLI::App& app, Options& o) {
  const char* group = "What is written";
  app.add_option("--out", o.out, "File (one rank) or directory")->required()->group(group);
  app.add_flag("--gzip", o.gzip, "Compress (also chosen by a name that ends in .gz)")->group(group);
  app.add_option("--truth", o.truth, "Write what really happened, and what each repair saves, as JSON")
      ->group(group);
  app.add_option("--dialect", o.dialect,
                 "ns: fractions relative to baseTimeNanoseconds; us: absolute integers (2022);\n"
                 "2021: capitalised categories and string thread ids")
      ->transform(CLI::CheckedTransformer(kDialects))
      ->group(group);
  app.add_option("--vendor", o.vendor, "Spelling of runtime calls and kernels: cuda, rocm, xpu")
      ->transform(CLI::CheckedTransformer(kVendors))
      ->group(group);
  app.add_flag("--shapes", o.shapes, "Input Dims, type, Strides, Concrete Inputs")->group(group);
  app.add_flag("--stacks", o.stacks, "python_function events, nn.Module calls (2021: Call stack)")
      ->group(group);
  app.add_flag("--memory", o.memory, "[memory] instants of a caching allocator")->group(group);
  app.add_option("--drop-device", o.drop_device, "Leave out this share of the device's records")
      ->check(CLI::Range(0.0, 1.0))
      ->group(group);
  app.add_option("--sample", o.sample, "Leave out this share of the runtime's and the device's records")
      ->check(CLI::Range(0.0, 1.0))
      ->group(group);
  app.add_option("--events-target", o.events_target, "Choose --steps so that about this many events come out")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
}

void add_more_problems(CLI::App& app, Options& o) {
  const char* group = "What else is wrong";
  const auto ms = [&](const char* name, double& value, const char* text) {
    app.add_option(name, value, text)->check(CLI::Range(0.0, 1e5))->group(group);
  };
  const auto count = [&](const char* name, int& value, const char* text) {
    app.add_option(name, value, text)->check(CLI::Range(0, 20000))->group(group);
  };
  ms("--worker-restart", o.worker_restart_ms, "With --epoch: starting the loader's workers again takes MS");
  ms("--bursts", o.burst_ms, "Each 8th batch takes a worker MS longer");
  ms("--preprocess", o.preprocess_ms, "CPU tensor ops between batch and model take MS");
  app.add_option("--contention", o.contention, "Host costs times FACTOR in recorded steps 5 to 7")
      ->check(CLI::Range(1.0, 100.0))
      ->group(group);
  app.add_option("--slow-clock", o.slow_clock,
                 "Kernels take FACTOR times as long from the 6th recorded step on")
      ->check(CLI::Range(1.0, 100.0))
      ->group(group);
  ms("--python", o.python_ms, "Pure Python between the blocks takes MS");
  count("--row-loop", o.row_loop, "A Python loop over N rows, two ops each");
  ms("--callback", o.callback_ms, "A callback at the end of the step takes MS");
  app.add_option("--callback-every", o.callback_every, "With --callback: steps between two")
      ->check(CLI::Range(1, 100000))
      ->group(group);
  ms("--gc-pause", o.gc_pause_ms, "The interpreter stops for MS in every 5th step");
  count("--nonzero", o.nonzero, "N boolean indexings per step");
  app.add_flag("--fp64", o.fp64, "With --features: they have double precision")->group(group);
  app.add_flag("--fp32", o.fp32, "The program runs in fp32 on plain cores")->group(group);
  app.add_option("--pointwise-chain", o.chain_mb, "20 element-wise ops in a row on tensors of MB megabytes")
      ->check(CLI::Range(0.0, 1e5))
      ->group(group);
  count("--small-reduces", o.small_reduces, "Gradients are reduced after backward in N pieces");
  ms("--recompile", o.recompile_ms, "Each step has a new shape, compiled for MS");
}

void add_problems(CLI::App& app, Options& o, std::vector<std::string>& stragglers, double& pageable_mb) {
  const char* group = "What is wrong";
  app.add_option("--slow-input", o.slow_input_ms, "Loading a batch takes MS, in the training process")
      ->check(CLI::Range(0.0, 1e5))
      ->group(group);
  app.add_option("--loader-workers", o.loader_workers,
                 "With --slow-input: N workers load instead, two ahead each")
      ->check(CLI::Range(0, 256))
      ->group(group);
  app.add_option("--item-sync", o.item_sync, "N .item() calls per step")
      ->check(CLI::Range(0, 20000))
      ->group(group);
  app.add_option("--tiny-kernels", o.tiny_kernels, "N more element-wise ops on small tensors per step")
      ->check(CLI::Range(0, 200000))
      ->group(group);
  app.add_flag("--exposed-comm", o.exposed_comm, "Reduce gradients after backward instead of during it")
      ->group(group);
  app.add_option(
         "--straggler", stragglers,
         "RANK:MS[:PHASE[:STEP]], phase input (default), host, compute or network; in every step, or in one")
      ->group(group);
  app.add_option("--clock-skew", o.clock_skew_us, "Clock offsets of the ranks, up to this many µs")
      ->check(CLI::Range(0.0, 1e9))
      ->group(group);
  app.add_option("--clock-drift", o.clock_drift_ppm, "Clock drifts of the ranks, up to this many ppm")
      ->check(CLI::Range(0.0, 1000.0))
      ->group(group);
  app.add_option("--end-jitter", o.end_jitter_us, "Ranks see the end of a collective up to this many µs late")
      ->check(CLI::Range(0.0, 1e6))
      ->group(group);
  app.add_option("--end-bias", o.end_bias_us, "Likewise, but each rank always as late as before")
      ->check(CLI::Range(0.0, 1e6))
      ->group(group);
  app.add_option("--pageable-copy", pageable_mb,
                 "The batch has MB megabytes and is copied from pageable memory")
      ->check(CLI::Range(0.0, 1e5))
      ->group(group);
  app.add_flag("--alloc-churn{4}", o.alloc_churn,
               "Empty the allocator's cache N times per step (default 4); write --alloc-churn=N")
      ->group(group);
  app.add_option("--unfused-optimizer", o.unfused_optimizer, "N parameters, updated one by one")
      ->check(CLI::Range(0, 20000))
      ->group(group);
  app.add_flag("--zero-grad-fill", o.zero_grad_fill, "Fill gradients with zeros and add to them")
      ->group(group);
  app.add_option("--without", o.without, "Repair this planted problem, keep everything else")
      ->delimiter(',')
      ->group(group);
}

}  // namespace

void add_option_groups(CLI::App& app, Options& options, std::vector<std::string>& stragglers,
                       double& pageable_mb) {
  add_job(app, options);
  add_output(app, options);
  add_more_job(app, options);
  add_problems(app, options, stragglers, pageable_mb);
  add_more_problems(app, options);
}

}  // namespace stepscope::make_trace
