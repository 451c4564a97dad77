// What a recording cannot carry, for answers that stand without the page of `report`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyze/derived.h"
#include "report/params.h"

namespace stepscope::advise {

/// "Rank 0: … part of its records is missing. That makes doubtful: idle time, waits." `rank`: "" of one.
std::string caveat(std::string_view rank, std::string_view what, std::string_view suffers);

/// One for each rank and thing that stops conclusions (health of class A); none of ranks without device
/// events, of which the answers say so.
std::vector<std::string> caveats(const analyze::Derived& derived);

}  // namespace stepscope::advise
