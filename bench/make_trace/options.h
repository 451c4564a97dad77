// What to simulate and how to write it down: the command line of make_trace as a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stepscope::make_trace {

constexpr int kBurstEvery = 8;                       ///< batches
constexpr int kContendedFrom = 4, kContendedTo = 6;  ///< recorded steps, from 0
constexpr int kThrottledFrom = 5;                    ///< recorded step, from 0
constexpr int kPauseEvery = 5;                       ///< steps
constexpr int kChainOps = 20;

enum class DialectKind { ns, us, y2021 };
enum class VendorKind { cuda, rocm, xpu };
enum class Phase { input, host, compute, network };

/// One rank that needs `ms` longer in `phase`.
struct Straggler {
  int rank = 0;
  double ms = 0;
  Phase phase = Phase::input;
  int step = 0;  ///< number of the only recorded step in which it does; 0: in every step
};

/// A factor on kernels whose name contains `part`.
struct KernelScale {
  double factor = 1;
  std::string part;
};

struct Options {
  int ranks = 1;
  int ranks_per_host = 8;
  int steps = 5;
  int warmup = 1;
  int streams = 1;
  int layers = 8;
  int hidden = 1024;
  int tokens = 4096;
  std::uint64_t seed = 1;
  double noise_pct = 2.0;
  double host_cost = 1.0;  ///< factor on the costs of Python and ops, not on runtime calls
  KernelScale kernel_scale;
  double launch_scale = 1;   ///< factor on kernel launches: the call and its latency to the device
  double network_scale = 1;  ///< factor on collectives' time after all ranks have arrived

  std::string out;
  bool gzip = false;
  std::string truth;
  DialectKind dialect = DialectKind::ns;
  VendorKind vendor = VendorKind::cuda;
  bool shapes = false;
  bool stacks = false;
  bool memory = false;
  std::int64_t events_target = 0;  ///< 0: `steps` decides

  int epoch = 0;     ///< steps; 0: never ends
  int prefetch = 2;  ///< batches ahead per worker
  bool inference = false;
  bool tensor_parallel = false;
  bool checkpointing = false;
  int stages = 0;             ///< stages of a pipeline; 0: every rank holds the whole model
  int micro_batches = 32;     ///< per step and pipeline
  int last_stage_layers = 0;  ///< blocks that the last stage has beyond its share
  double held_gb = 0;         ///< device memory held from the start
  int features = 0;           ///< width of an untrained first projection
  int python_calls = 0;       ///< trivial Python calls per step; they cost only when --stacks records them
  double cold_start_ms = 0;   ///< the first recorded step sets the device up
  double drop_device = 0;     ///< share of device records that are not written
  double sample = 0;          ///< share of runtime and device records that are not written

  double slow_input_ms = 0;
  int loader_workers = 0;  ///< with slow_input: 0 loads in the training process
  double worker_restart_ms = 0;
  double burst_ms = 0;
  double preprocess_ms = 0;
  double contention = 1;  ///< factor on host costs in the contended steps
  double slow_clock = 1;  ///< factor on kernels from kThrottledFrom on
  double python_ms = 0;
  int row_loop = 0;
  double callback_ms = 0;
  int callback_every = 1;  ///< steps
  double gc_pause_ms = 0;
  int nonzero = 0;
  bool fp64 = false;
  bool fp32 = false;
  double chain_mb = 0;       ///< a chain of element-wise ops on tensors of this size
  bool chain_eager = false;  ///< one kernel per op instead of one compiled one
  int small_reduces = 0;
  bool compiled = false;
  double recompile_ms = 0;
  int item_sync = 0;
  int tiny_kernels = 0;
  bool exposed_comm = false;
  std::vector<Straggler> stragglers;
  double clock_skew_us = 0;
  double clock_drift_ppm = 0;
  double end_jitter_us = 0;
  double end_bias_us = 0;
  double copy_mb = 0;  ///< input batch bytes / 1e6; 0: token ids
  bool pageable = false;
  int alloc_churn = 0;
  int unfused_optimizer = 0;
  bool zero_grad_fill = false;
  std::vector<std::string> without;
};

/// Parses argv. Returns -1 and fills `options` when the run should go on, else the exit code (0 help, 2
/// usage).
int parse_options(int argc, char** argv, Options& options);

/// Parses RANK:MS[:PHASE]; returns "" on success, else the error.
std::string parse_straggler(const std::string& text, Straggler& straggler);

/// Parses FACTOR[:PART]; returns "" on success, else the error.
std::string parse_kernel_scale(const std::string& text, KernelScale& scale);

const char* phase_name(Phase phase);

}  // namespace stepscope::make_trace
