// The options of make_trace as its help lists them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "make_trace/options.h"

namespace stepscope::make_trace {

/// The caller converts options whose text is not their value (RANK:MS:PHASE, megabytes that imply a kind of
/// copy). All references must outlive the parsing.
void add_option_groups(CLI::App& app, Options& options, std::vector<std::string>& stragglers,
                       double& pageable_mb);

}  // namespace stepscope::make_trace
