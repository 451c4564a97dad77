// Merges reports about parts of a whole.
#pragma once

#include "report/table.h"

namespace stepscope::report {

/// Appends rows to the tables of `all` with the same title and columns, other tables at the end, and notes
/// that `all` does not have yet.
void append(Report& all, Report next);

}  // namespace stepscope::report
