// HTA's rule for many names.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/named_durations.h"
#include "report/params.h"

namespace stepscope::analyze::hta {

/// Where there are more than the param "num-kernels", or else `most`, those behind the share "duration-ratio"
/// of the sums become "others", and every row then describes sums in place of calls. Names that contain a
/// text of "keep" stay.
std::vector<NamedDurations> with_others(std::vector<NamedDurations> rows, const report::Params& params,
                                        std::int64_t most);

}  // namespace stepscope::analyze::hta
