// Flame graphs as folded stacks, which flamegraph.pl, speedscope and others draw.
#pragma once

#include <optional>
#include <string>

#include "report/table.h"

namespace stepscope::report {

/// A line per stack: "outer;inner value", in ns or bytes. From each table of shape flame whose rows are
/// stacks; of several ranks or devices, a stack begins with them. Nothing if there is no such table.
std::optional<std::string> to_folded(const Report& report);

}  // namespace stepscope::report
