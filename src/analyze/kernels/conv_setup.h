// Convolutions that another setting makes cheaper: fallback kernels, biases that a following norm cancels.
#pragma once

#include <string>
#include <vector>

#include "analyze/question.h"
#include "report/sheet.h"

namespace stepscope::analyze {

enum class ConvFlaw : std::uint8_t {
  fallback,      ///< kernels that cuDNN picks without measuring which is fastest
  needless_bias  ///< kernels that add the bias of a convolution right before a batch norm
};
std::string_view name_of(ConvFlaw flaw);

/// How the sizes of convolutions vary over the steps.
enum class ConvSizes : std::uint8_t {
  unknown,  ///< not recorded, or one step only
  fixed,    ///< each size occurs in more than one step
  varying
};
/// "fixed"; "" for unknown.
std::string_view name_of(ConvSizes sizes);

struct ConvSetup {
  std::int64_t rank;
  ConvFlaw what;
  std::int64_t kernels, time;  ///< ns
  double share;                ///< of the time of all compute kernels
  ConvSizes sizes;             ///< of the convolutions with fallback kernels
  std::string kernel;          ///< name of the longest kernel
};

void add_conv_setup(std::vector<ConvSetup>& setups, const trace::Trace& trace, const trace::Rank& rank,
                    const StepChoice& choice);
extern const report::Sheet<ConvSetup> kConvSetupSheet;

}  // namespace stepscope::analyze
