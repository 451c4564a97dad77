// HTA's rule for tables with many names.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/named_durations.h"
#include "report/params.h"

namespace stepscope::analyze::hta {

/// If there are more rows than the param "num-kernels" (default `most`), rows beyond this number or beyond
/// the share "duration-ratio" of the sums become "others"; names that contain a text of "keep" stay. Every
/// row then describes sums instead of calls.
std::vector<NamedDurations> with_others(std::vector<NamedDurations> rows, const report::Params& params,
                                        std::int64_t most);

}  // namespace stepscope::analyze::hta
