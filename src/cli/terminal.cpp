#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace stepscope::cli {
namespace {

winsize size_of(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return {};
  return size;
}

}  // namespace

bool is_terminal(int descriptor) { return isatty(descriptor) == 1; }

int width(const Environment& environment) {
  for (const int columns :
       {int{size_of(STDOUT_FILENO).ws_col}, environment.columns, int{size_of(STDERR_FILENO).ws_col}})
    if (columns > 0) return std::clamp(columns, 20, 400);
  return 80;
}

int height() { return std::min(int{size_of(STDOUT_FILENO).ws_row}, 400); }

bool coloured(const Environment& environment) {
  return is_terminal(STDOUT_FILENO) && !environment.no_colour && !environment.dumb;
}

}  // namespace stepscope::cli
