// What a recording cannot prove, as notes on answers that are shown without the page of `report`.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "report/verdict.h"

namespace stepscope::advise {

/// "Rank 0: … some of its records are missing. This puts in doubt: idle time, waits."
std::string caveat(const report::Health& row, bool several_ranks);

/// One per rank and health row of class A, which stops conclusions. Ranks without device events are skipped:
/// their answers have such a note already.
std::vector<std::string> caveats(const analyze::Derived& derived);

}  // namespace stepscope::advise
