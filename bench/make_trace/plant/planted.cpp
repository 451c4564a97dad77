#include "make_trace/plant/planted.h"

#include <algorithm>
#include <array>
#include <utility>

#include "make_trace/model/pipeline.h"

namespace stepscope::make_trace {
namespace {

struct Problem {
  const char* name;
  const char* unit;
  const char* rule;
  const char* program;
  double (*size)(const Options&);
  void (*repair)(Options&);
};

const std::array kProblems = std::to_array<Problem>({
    {"slow_input", "ms per batch", "I01", "the training process loads and decodes its own batches",
     [](const Options& o) { return o.slow_input_ms; }, [](Options& o) { o.slow_input_ms = 0; }},
    {"item_sync", "calls per step", "S01", "the host reads a scalar from the device after a block",
     [](const Options& o) { return static_cast<double>(o.item_sync); }, [](Options& o) { o.item_sync = 0; }},
    {"tiny_kernels", "ops per step", "H01", "element-wise ops on small tensors are launched one by one",
     [](const Options& o) { return static_cast<double>(o.tiny_kernels); },
     [](Options& o) { o.tiny_kernels = 0; }},
    {"exposed_comm", "", "N01", "all gradients are reduced after backward",
     [](const Options& o) { return o.exposed_comm && o.ranks > 1 ? 1.0 : 0.0; },
     [](Options& o) { o.exposed_comm = false; }},
    {"pageable_copy", "MB per step", "C01", "the batch is copied from pageable memory",
     [](const Options& o) { return o.pageable ? o.copy_mb : 0.0; }, [](Options& o) { o.pageable = false; }},
    {"alloc_churn", "cache flushes per step", "A01", "the allocator's cache is emptied inside the step",
     [](const Options& o) { return static_cast<double>(o.alloc_churn); },
     [](Options& o) { o.alloc_churn = 0; }},
    {"unfused_optimizer", "parameters", "H03", "the optimizer updates parameters one by one",
     [](const Options& o) { return static_cast<double>(o.unfused_optimizer); },
     [](Options& o) { o.unfused_optimizer = 0; }},
    {"zero_grad_fill", "", "H04", "gradients are filled with zeros and accumulated into",
     [](const Options& o) { return o.zero_grad_fill ? 1.0 : 0.0; },
     [](Options& o) { o.zero_grad_fill = false; }},
    {"worker_restart", "ms per epoch", "I03", "the loader's workers are started again in each epoch",
     [](const Options& o) { return o.worker_restart_ms; }, [](Options& o) { o.worker_restart_ms = 0; }},
    {"bursts", "ms in each 8th batch", "I04", "some batches take their worker much longer",
     [](const Options& o) { return o.burst_ms; },
     [](Options& o) { o.slow_input_ms += std::exchange(o.burst_ms, 0) / kBurstEvery; }},
    {"preprocess", "ms per step", "I05", "batches are augmented on the CPU between loader and model",
     [](const Options& o) { return o.preprocess_ms; }, [](Options& o) { o.preprocess_ms = 0; }},
    {"contention", "times", "I06", "others use the CPU in recorded steps 5 to 7",
     [](const Options& o) { return o.contention > 1 ? o.contention : 0; },
     [](Options& o) { o.contention = 1; }},
    {"slow_clock", "times", "K10", "the device lowers its clock from the 6th recorded step on",
     [](const Options& o) { return o.slow_clock > 1 ? o.slow_clock : 0; },
     [](Options& o) { o.slow_clock = 1; }},
    {"python", "ms per step", "H02", "pure Python runs between the blocks",
     [](const Options& o) { return o.python_ms; }, [](Options& o) { o.python_ms = 0; }},
    {"row_loop", "rows", "H05", "a Python loop works on one row at a time",
     [](const Options& o) { return static_cast<double>(o.row_loop); }, [](Options& o) { o.row_loop = 0; }},
    {"callback", "ms per call", "H07", "a callback writes JSON at the end of the step",
     [](const Options& o) { return o.callback_ms; }, [](Options& o) { o.callback_ms = 0; }},
    {"gc_pause", "ms in every 5th step", "H07", "the interpreter collects garbage",
     [](const Options& o) { return o.gc_pause_ms; }, [](Options& o) { o.gc_pause_ms = 0; }},
    {"nonzero", "calls per step", "S03", "a shape depends on data, so the host waits for it",
     [](const Options& o) { return static_cast<double>(o.nonzero); }, [](Options& o) { o.nonzero = 0; }},
    {"fp64", "", "P03", "features come from numpy in double precision",
     [](const Options& o) { return o.fp64 ? 1.0 : 0.0; }, [](Options& o) { o.fp64 = false; }},
    {"fp32", "", "P01", "matrix products run in fp32 on plain cores",
     [](const Options& o) { return o.fp32 ? 1.0 : 0.0; }, [](Options& o) { o.fp32 = false; }},
    {"pointwise_chain", "MB", "K01", "element-wise ops run one by one on a large tensor",
     [](const Options& o) { return o.chain_eager ? o.chain_mb : 0.0; },
     [](Options& o) { o.chain_eager = false; }},
    {"small_reduces", "collectives per step", "N02", "each gradient is reduced on its own",
     [](const Options& o) { return o.ranks > 1 ? static_cast<double>(o.small_reduces) : 0.0; },
     [](Options& o) { o.small_reduces = 0; }},
    {"few_micro_batches", "micro-batches", "N08", "the pipeline fills and drains with few micro-batches",
     [](const Options& o) {
       return o.micro_batches < kManyPerStage * o.stages ? static_cast<double>(o.micro_batches) : 0.0;
     },
     [](Options& o) { o.micro_batches = std::max(o.micro_batches, kManyPerStage * o.stages); }},
    {"recompile", "ms per step", "G01", "each step has a shape that is compiled first",
     [](const Options& o) { return o.recompile_ms; }, [](Options& o) { o.recompile_ms = 0; }},
});

}  // namespace

std::vector<Planted> planted_problems(const Options& options) {
  std::vector<Planted> planted;
  for (const Problem& problem : kProblems) {
    const double size = problem.size(options);
    if (size <= 0) continue;
    std::string rule = problem.rule;
    if (rule == "I01" && options.loader_workers > 0) rule = "I02";
    planted.push_back({problem.name, size, problem.unit, rule, -1, "", problem.program});
  }
  for (const Straggler& s : options.stragglers) {
    planted.push_back(
        {"straggler", s.ms, s.step > 0 ? "ms" : "ms per step", s.step > 0 ? "H09" : "N05", s.rank,
         phase_name(s.phase),
         s.step > 0 ? "one rank needs longer in one step" : "one rank needs longer in every step"});
  }
  return planted;
}

Options repaired(Options options, const std::string& name) {
  for (const Problem& problem : kProblems) {
    if (name == problem.name || name == "all") problem.repair(options);
  }
  if (name == "straggler" || name == "all") options.stragglers.clear();
  return options;
}

bool is_problem_name(const std::string& name) {
  if (name == "straggler" || name == "all") return true;
  return std::ranges::any_of(kProblems, [&](const Problem& p) { return name == p.name; });
}

}  // namespace stepscope::make_trace
