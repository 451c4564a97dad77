#include "make_trace/planted.h"

#include <algorithm>
#include <array>

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

const std::array<Problem, 8> kProblems = {{
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
}};

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
    planted.push_back({"straggler", s.ms, "ms per step", "N05", s.rank, phase_name(s.phase),
                       "one rank needs longer in every step"});
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
