// A gate's decision as other programs want it.
#pragma once

#include <string>

#include "compare/gate.h"

namespace stepscope::cli {

/// For a pull request's comment or a job's summary.
std::string to_markdown(const compare::Gate& gate);

/// One test suite, one test case per limit; inconclusive is an error, a regression a failure.
std::string to_junit(const compare::Gate& gate);

}  // namespace stepscope::cli
