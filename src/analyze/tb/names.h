// What the plugin reads out of names. Its lists are kept as they were; none of them is what stepscope itself
// uses.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/string_pool.h"

namespace stepscope::analyze::tb {

/// Facts of a name as bits.
enum NameFact : std::uint16_t {
  kDataLoading = 1,         ///< "enumerate(DataLoader)#….__next__", "enumerate(DataPipe)#…"
  kNccl = 2,                ///< one of the ten collectives it knows, NCCL's
  kGloo = 4,                ///< … Gloo's
  kProfilerStep = 8,        ///< "ProfilerStep#…"
  kOptimizerStep = 16,      ///< "Optimizer.step…": a node of its own class
  kNotListed = 32,          ///< operators its tables leave out
  kTensorCoreOp = 64,       ///< operators that could use tensor cores
  kTensorCoreKernel = 128,  ///< kernels taken to use tensor cores
  kEvaluateFunction = 256,  ///< "autograd::engine::evaluate_function:…"
  kAccumulateGrad = 512,    ///< … of torch::autograd::AccumulateGrad
  kKnown = 1 << 15,
};
inline constexpr int kCollective = kNccl | kGloo;

std::uint16_t facts_of(std::string_view name);

/// facts_of, asked once per name.
class NameFacts {
 public:
  explicit NameFacts(const trace::StringPool& strings) : strings_(strings), known_(strings.size()) {}
  bool is(trace::StringId name, int facts) const {
    std::uint16_t& known = known_[name];
    if (known == 0) known = static_cast<std::uint16_t>(facts_of(strings_[name]) | kKnown);
    return (known & facts) != 0;
  }

 private:
  const trace::StringPool& strings_;
  mutable std::vector<std::uint16_t> known_;
};

}  // namespace stepscope::analyze::tb
