// The list of analyses as a report: `stepscope list`.
#pragma once

#include "report/table.h"

namespace stepscope::advise {

/// One row per analysis: name, what it answers, its options.
report::Report listed_analyses();

}  // namespace stepscope::advise
