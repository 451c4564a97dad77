// Kernel names without the parts that differ from one build, device or run to the next.
#pragma once

#include <string>
#include <string_view>

namespace stepscope::compare {

/// Without template arguments, parameters, hashes, tile sizes, and the words for a device's generation:
/// "ampere_sgemm_128x64_tn" → "sgemm_tn", "volta_sgemm_32x32_sliced1x4_tn" → "sgemm_sliced_tn".
std::string plain_kernel_name(std::string_view name);

}  // namespace stepscope::compare
