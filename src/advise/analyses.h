// Every analysis that front ends list: those of the trace, and those of the advice before them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyze/analyses.h"

namespace stepscope::advise {

std::span<const analyze::Analysis> all_analyses();
/// Those of one topic, in the order of the list.
std::vector<const analyze::Analysis*> analyses_of(analyze::Topic topic);
/// nullptr if there is none of that name.
const analyze::Analysis* find_analysis(std::string_view name);

/// The answer of "findings", from what verdict() gives.
report::Report findings_of(report::Report verdict);

}  // namespace stepscope::advise
