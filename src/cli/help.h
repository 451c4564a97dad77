// The help texts, made from the arrays of commands and analyses.
#pragma once

#include <string>

#include "cli/commands.h"

namespace stepscope::cli {

/// What `stepscope` alone says: three examples and where to look.
std::string short_help();
/// Every command.
std::string full_help();
/// One command, or with `analysis` one analysis of `show`.
std::string help_of(const Command& command, const analyze::Analysis* analysis);

/// "-o, --output FILE", "--tb-compat", "--group name|shape|stack".
std::string spelled(const Flag& flag);

}  // namespace stepscope::cli
