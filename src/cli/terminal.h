// Where the output goes: a terminal or not, how wide, coloured or not.
#pragma once

#include "cli/commands.h"

namespace stepscope::cli {

bool is_terminal(int descriptor);

/// Of the terminal on stdout; else COLUMNS; else of the terminal on stderr; else 80.
int width(const Environment& environment);

/// Lines of the terminal on stdout; 0 when it is none.
int height();

/// Only on a terminal that can, and only if the user did not set NO_COLOR.
bool coloured(const Environment& environment);

}  // namespace stepscope::cli
