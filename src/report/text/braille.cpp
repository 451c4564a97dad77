#include "report/text/braille.h"

#include <algorithm>
#include <cmath>

#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr unsigned char kDots[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};

}  // namespace

std::vector<std::string> braille_plot(const Series& series, Extent x, Extent y, int cells, int rows) {
  cells = std::max(cells, 1);
  rows = std::max(rows, 1);
  const int high = rows * 4;
  std::vector<unsigned char> dots(static_cast<std::size_t>(cells * rows), 0);
  const auto level_of = [&](double value) {
    return static_cast<int>(std::lround(place_in(y, value) * (high - 1)));
  };
  const auto at_cell = [&](int row, int cell) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(cells) + static_cast<std::size_t>(cell);
  };
  const std::vector<Span> spans = spans_of(series, x, cells * 2);
  for (int column = 0; column < cells * 2; ++column) {
    const Span& span = spans[static_cast<std::size_t>(column)];
    if (!(span.low <= span.high)) continue;
    for (int level = level_of(span.low); level <= level_of(span.high); ++level) {
      const int down = high - 1 - level;
      dots[at_cell(down / 4, column / 2)] |= kDots[column % 2][down % 4];
    }
  }
  std::vector<std::string> lines(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < dots.size(); ++i) {
    std::string& line = lines[i / static_cast<std::size_t>(cells)];
    if (dots[i] == 0)
      line += ' ';
    else
      append_utf8(line, 0x2800u + dots[i]);
  }
  for (std::string& line : lines) line.erase(line.find_last_not_of(' ') + 1);
  return lines;
}

}  // namespace stepscope::report
