// A gate's decision in formats for other programs.
#pragma once

#include <string>

#include "compare/gate.h"

namespace stepscope::cli {

/// For a comment on a pull request or a job's summary.
std::string to_markdown(const compare::Gate& gate);

/// One test suite, one test case per limit; inconclusive is an error, a regression a failure.
std::string to_junit(const compare::Gate& gate);

}  // namespace stepscope::cli
