// The help texts, made from the arrays of commands and analyses.
#pragma once

#include <string>

#include "cli/commands.h"

namespace stepscope::cli {

/// The text of `stepscope` without a command: three examples and where to look.
std::string short_help();
/// Every command. Lines are wrapped at `columns`, 40 to 100.
std::string full_help(int columns);
/// One command, or with `analysis` one analysis of `show`.
std::string help_of(const Command& command, const analyze::Analysis* analysis, int columns);

/// "-o, --output FILE", "--tb-compat", "--group name|shape|stack".
std::string spelled(const Flag& flag);

}  // namespace stepscope::cli
