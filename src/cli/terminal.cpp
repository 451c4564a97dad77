#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "report/utf8.h"

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

std::string harmless(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::size_t stop = end;
    if (stop > at && text[stop - 1] == '\r') --stop;
    out += report::one_line(std::string_view(text).substr(at, stop - at));
    if (end < text.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

}  // namespace stepscope::cli
