// Whether two recordings are of the same thing.
#pragma once

#include <string>
#include <vector>

#include "compare/diff.h"
#include "trace/trace.h"

namespace stepscope::compare {

/// Sentences why a difference in time is not one of the program: another number of ranks, another device,
/// other work, other options of the profiler, damage. None: they can be compared. The names are what the
/// sides are called.
std::vector<std::string> not_comparable(const trace::Trace& a, const trace::Trace& b, const Pair& recordings,
                                        const std::string& name_a = "A", const std::string& name_b = "B");

}  // namespace stepscope::compare
