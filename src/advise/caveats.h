// What a recording cannot carry, for answers that stand without the page of `report`.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "report/verdict.h"

namespace stepscope::advise {

/// "Rank 0: … part of its records is missing. That makes doubtful: idle time, waits."
std::string caveat(const report::Health& row, bool several_ranks);

/// One for each rank and thing that stops conclusions (health of class A); none of ranks without device
/// events, of which the answers say so.
std::vector<std::string> caveats(const analyze::Derived& derived);

}  // namespace stepscope::advise
