// A gate's report as other programs want it.
#pragma once

#include <string>

#include "report/table.h"

namespace stepscope::cli {

/// For a pull request's comment or a job's summary.
std::string to_markdown(const report::Report& gate);

/// One test suite, one test case per limit; inconclusive is an error, a regression a failure.
std::string to_junit(const report::Report& gate);

}  // namespace stepscope::cli
