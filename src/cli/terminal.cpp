#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace stepscope::cli {
namespace {

int columns_of(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

bool is_terminal(int descriptor) { return isatty(descriptor) == 1; }

int width(const Environment& environment) {
  for (const int columns : {columns_of(STDOUT_FILENO), environment.columns, columns_of(STDERR_FILENO)})
    if (columns > 0) return std::clamp(columns, 20, 400);
  return 80;
}

bool coloured(const Environment& environment) {
  return is_terminal(STDOUT_FILENO) && !environment.no_colour && !environment.dumb;
}

}  // namespace stepscope::cli
