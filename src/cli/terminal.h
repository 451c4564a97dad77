// Where the output goes: a terminal or not, how wide, coloured or not.
#pragma once

#include "cli/commands.h"

namespace stepscope::cli {

bool is_terminal(int descriptor);

/// Width of the terminal on stdout, else COLUMNS, else width of the terminal on stderr; at least 20, at most
/// 400. Without any of them 80.
int width(const Environment& environment);

/// Lines of the terminal on stdout; 0 if stdout is no terminal.
int height();

/// Whether to use colours: only on a terminal that has them, and only if NO_COLOR is not set.
bool coloured(const Environment& environment);

}  // namespace stepscope::cli
