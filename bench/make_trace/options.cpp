#include "make_trace/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "make_trace/option_groups.h"
#include "make_trace/plant/planted.h"

namespace stepscope::make_trace {
namespace {

constexpr const char* kAbout =
    "Simulates asynchronous training, data-parallel or as a pipeline, and writes what a profiler would have "
    "recorded.\n"
    "\n"
    "Each rank has a main thread and a backward thread that run ops and queue kernels, device streams that\n"
    "execute in order, collectives that start when the last rank arrives, and a data loader. Times come out\n"
    "of the simulation: a planted problem changes what is executed, never a recorded number.\n"
    "\n"
    "The default job (8 blocks, 1 rank) is device-bound: the host runs ahead and the device is busy. A "
    "delay\n"
    "on the host costs nothing until it exceeds that lead, just as in a real job.";

constexpr const char* kLesson =
    "Examples\n"
    "  make_trace --out healthy.json\n"
    "      five steps, nothing wrong\n"
    "  make_trace --slow-input 25 --out slow.json.gz --truth truth.json\n"
    "      the loader runs in the training process; truth.json says what each step lost to it and what a\n"
    "      repair saves (the same seed is simulated again without it)\n"
    "  make_trace --slow-input 25 --without slow_input --out repaired.json\n"
    "      the repaired twin of the trace above\n"
    "  make_trace --ranks 8 --straggler 3:6:compute --clock-skew 500 --clock-drift 20 --out run/ --truth "
    "run.json\n"
    "      eight files; rank 3 computes 6 ms longer; every rank has its own clock\n"
    "  make_trace --ranks 4 --stages 4 --micro-batches 4 --tokens 65536 --out run/ --truth run.json\n"
    "      a pipeline that is mostly filling and draining; run.json has every stage's bubble\n"
    "  make_trace --events-target 3000000 --shapes --stacks --memory --out big.json\n"
    "      a big file, written in constant memory\n"
    "\n"
    "Names for --without: slow_input item_sync tiny_kernels exposed_comm straggler pageable_copy "
    "alloc_churn\n"
    "unfused_optimizer zero_grad_fill worker_restart bursts preprocess contention python row_loop callback\n"
    "gc_pause slow_clock nonzero fp64 fp32 pointwise_chain small_reduces recompile few_micro_batches all";

std::string check_together(const Options& o) {
  if (o.dialect == DialectKind::y2021 && o.vendor != VendorKind::cuda)
    return "--dialect 2021 knows only cuda";
  for (const Straggler& s : o.stragglers) {
    if (s.rank >= o.ranks)
      return "--straggler names rank " + std::to_string(s.rank) + ", which does not exist";
  }
  for (const std::string& name : o.without) {
    if (!is_problem_name(name)) return "--without: no problem is called '" + name + "'";
  }
  if (o.worker_restart_ms > 0 && (o.epoch == 0 || o.loader_workers == 0))
    return "--worker-restart needs --epoch and --loader-workers";
  if (o.burst_ms > 0 && o.loader_workers == 0) return "--bursts needs --loader-workers";
  if (o.fp64 && o.features == 0) return "--fp64 needs --features";
  if (o.stages > 0) {
    if (o.ranks % o.stages != 0) return "--ranks must be a multiple of --stages";
    if (o.layers % o.stages != 0) return "--layers must be a multiple of --stages";
    if (o.tokens < o.micro_batches) return "--tokens must not be fewer than --micro-batches";
    if (o.inference || o.tensor_parallel) return "--stages knows neither --inference nor --tensor-parallel";
  }
  if (o.inference && o.checkpointing) return "--inference computes no gradients to recompute for";
  if (o.alloc_churn < 0 || o.alloc_churn > 100000) return "--alloc-churn must lie between 0 and 100000";
  return {};
}

}  // namespace

const char* phase_name(Phase phase) {
  switch (phase) {
    case Phase::input:
      return "input";
    case Phase::host:
      return "host";
    case Phase::compute:
      return "compute";
    case Phase::network:
      return "network";
  }
  return "";
}

std::string parse_straggler(const std::string& text, Straggler& straggler) {
  const std::size_t first = text.find(':');
  if (first == std::string::npos) return "expected RANK:MS[:PHASE[:STEP]], got '" + text + "'";
  const std::size_t second = text.find(':', first + 1);
  const std::string ms = text.substr(first + 1, second == std::string::npos ? second : second - first - 1);
  const auto rank_read = std::from_chars(text.data(), text.data() + first, straggler.rank);
  if (rank_read.ec != std::errc() || rank_read.ptr != text.data() + first || straggler.rank < 0) {
    return "'" + text.substr(0, first) + "' is not a rank";
  }
  const auto ms_read = std::from_chars(ms.data(), ms.data() + ms.size(), straggler.ms);
  const bool whole = ms_read.ec == std::errc() && ms_read.ptr == ms.data() + ms.size();
  if (!whole || !std::isfinite(straggler.ms) || straggler.ms < 0 || straggler.ms > 1e5) {
    return "'" + ms + "' is not a time in ms";
  }
  if (second == std::string::npos) return {};
  const std::size_t third = std::min(text.find(':', second + 1), text.size());
  if (third < text.size()) {
    const char* const end = text.data() + text.size();
    const auto step_read = std::from_chars(text.data() + third + 1, end, straggler.step);
    if (step_read.ec != std::errc() || step_read.ptr != end || straggler.step < 1)
      return "'" + text.substr(third + 1) + "' is not the number of a recorded step";
  }
  const std::string name = text.substr(second + 1, third - second - 1);
  for (const Phase phase : {Phase::input, Phase::host, Phase::compute, Phase::network}) {
    if (name == phase_name(phase)) {
      straggler.phase = phase;
      return {};
    }
  }
  return "'" + name + "' is not a phase (input, host, compute, network)";
}

std::string parse_kernel_scale(const std::string& text, KernelScale& scale) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto read = std::from_chars(text.data(), text.data() + colon, scale.factor);
  if (read.ec != std::errc() || read.ptr != text.data() + colon ||
      !(scale.factor >= 0 && scale.factor <= 100))
    return "'" + text.substr(0, colon) + "' is not a factor from 0 to 100";
  scale.part = text.substr(std::min(colon + 1, text.size()));
  return {};
}

int parse_options(int argc, char** argv, Options& options) {
  CLI::App app(kAbout, "make_trace");
  app.footer(kLesson);
  std::vector<std::string> stragglers;
  std::string kernel_scale;
  double pageable_mb = 0;
  app.add_option("--kernel-scale", kernel_scale,
                 "FACTOR[:PART]: kernels take FACTOR times as long, if their name has PART")
      ->group("More of the job");
  add_option_groups(app, options, stragglers, pageable_mb);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  std::string wrong;
  for (const std::string& text : stragglers) {
    Straggler straggler;
    if (wrong.empty()) wrong = parse_straggler(text, straggler);
    options.stragglers.push_back(straggler);
  }
  if (wrong.empty() && !kernel_scale.empty()) wrong = parse_kernel_scale(kernel_scale, options.kernel_scale);
  options.copy_mb = pageable_mb;
  options.pageable = pageable_mb > 0;
  options.chain_eager = options.chain_mb > 0;
  options.compiled = options.compiled || options.recompile_ms > 0;
  if (wrong.empty()) wrong = check_together(options);
  if (wrong.empty()) return -1;
  std::fprintf(stderr, "make_trace: %s\n", wrong.c_str());
  return 2;
}

}  // namespace stepscope::make_trace
