// Convolutions that another setting would make cheaper: fallback kernels, and biases that a norm takes away
// again.
#pragma once

#include <string>
#include <vector>

#include "analyze/question.h"
#include "report/sheet.h"

namespace stepscope::analyze {

enum class ConvFlaw : std::uint8_t {
  fallback,      ///< kernels that cuDNN takes where it has not measured which one is fastest
  needless_bias  ///< what adds the bias of a convolution that a batch norm follows
};
std::string_view name_of(ConvFlaw flaw);

/// Sizes of convolutions over the steps.
enum class ConvSizes : std::uint8_t {
  unknown,  ///< not recorded, or one step only
  fixed,    ///< each size comes in more than one step
  varying
};
/// "fixed"; "" for unknown.
std::string_view name_of(ConvSizes sizes);

struct ConvSetup {
  std::int64_t rank;
  ConvFlaw what;
  std::int64_t kernels, time;  ///< ns
  double share;                ///< of the time of all compute kernels
  ConvSizes sizes;             ///< of those with fallback kernels
  std::string kernel;          ///< the longest
};

void add_conv_setup(std::vector<ConvSetup>& setups, const trace::Trace& trace, const trace::Rank& rank,
                    const StepChoice& choice);
extern const report::Sheet<ConvSetup> kConvSetupSheet;

}  // namespace stepscope::analyze
