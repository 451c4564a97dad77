// HTA's rule for many names.
#pragma once

#include <string>
#include <vector>

#include "analyze/named_durations.h"

namespace stepscope::analyze::hta {

/// Where there are more than `most`, those behind the share `ratio` (0 … 1) of the sums become "others", and
/// every row then describes sums in place of calls. Names that contain a text of `allowed` stay.
std::vector<NamedDurations> with_others(std::vector<NamedDurations> rows, double ratio, std::size_t most,
                                        const std::vector<std::string>& allowed = {});

}  // namespace stepscope::analyze::hta
