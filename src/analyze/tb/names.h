// Facts that the plugin derives from names. The lists are the plugin's; stepscope itself uses others.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/string_pool.h"

namespace stepscope::analyze::tb {

/// Facts about a name, as bits.
enum NameFact : std::uint16_t {
  kDataLoading = 1,         ///< "enumerate(DataLoader)#….__next__", "enumerate(DataPipe)#…"
  kNccl = 2,                ///< "nccl:…", one of the five collectives that the plugin lists
  kGloo = 4,                ///< "gloo:…", one of the same five
  kProfilerStep = 8,        ///< "ProfilerStep#…"
  kOptimizerStep = 16,      ///< "Optimizer.step…": a node of its own class
  kNotListed = 32,          ///< operators that the plugin's tables leave out
  kTensorCoreOp = 64,       ///< operators that could use tensor cores
  kTensorCoreKernel = 128,  ///< kernels taken to use tensor cores
  kEvaluateFunction = 256,  ///< "autograd::engine::evaluate_function:…"
  kAccumulateGrad = 512,    ///< such a function of torch::autograd::AccumulateGrad
  kKnown = 1 << 15,
};
inline constexpr int kCollective = kNccl | kGloo;

std::uint16_t facts_of(std::string_view name);

/// facts_of(), computed once per name.
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
