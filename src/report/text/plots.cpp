#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "report/series.h"
#include "report/text/heat.h"
#include "report/text/layout.h"
#include "report/text/parts.h"
#include "report/units.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr unsigned char kDots[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};

/// `rows` lines of `cells` cells, the top one first. Values hold until the next x, as allocations do. Each
/// column shows its smallest to its largest value, so that no spike is lost.
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

constexpr std::size_t kMinPoints = 8;
constexpr std::size_t kMaxPlots = 6;

void put_plot(Sheet& sheet, const Series& series, const Column& x_column, Extent x, int rows) {
  const Extent y = extent_of(series.y, true);
  const std::string top = format_value(y.high, series.unit), bottom = format_value(y.low, series.unit);
  const int label = std::max({cells_of(top), cells_of(bottom), 4});
  const int cells = std::max(8, sheet.style.width - label - 6);
  const double most = *std::max_element(series.y.begin(), series.y.end());
  const double last = series.y.back();
  sheet.line(
      "  " + sheet.ink.bold(shortened(spoken(series.name), sheet.style.width / 2)) +
      fmt::format("  max {}, last {}", format_value(most, series.unit), format_value(last, series.unit)));
  const std::vector<std::string> lines = braille_plot(series, x, y, cells, rows);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string mark = i == 0 ? top : i + 1 == lines.size() ? bottom : "";
    sheet.line("  " + padded(mark, label, false) + sheet.ink.dim(" ┤") + sheet.ink.paint(kBarInk, lines[i]));
  }
  const std::string from = format_x(x_column, x.low), to = format_x(x_column, x.high);
  const int between = cells - cells_of(from) - cells_of(to);
  sheet.line("  " + repeated(" ", label + 1) + sheet.ink.dim("└" + repeated("─", cells)));
  sheet.line("  " + repeated(" ", label + 2) +
             sheet.ink.dim(from + repeated(" ", std::max(1, between)) + to));
}

}  // namespace

bool put_curve(Sheet& sheet, const Table& table) {
  const Curves curves = curves_of(table, kMaxPlots);
  if (curves.x == nullptr || curves.series.empty() || table.rows() < kMinPoints) return false;
  std::vector<double> all_x;
  for (const Series& s : curves.series) all_x.insert(all_x.end(), s.x.begin(), s.x.end());
  const Extent x = extent_of(all_x, false);
  const int rows = curves.series.size() == 1 ? 8 : 5;
  for (const Series& series : curves.series) put_plot(sheet, series, *curves.x, x, rows);
  std::string rest =
      fmt::format("{} points over {}", format_value(static_cast<std::int64_t>(table.rows()), Unit::count),
                  spoken(curves.x->name));
  if (curves.left_out > 0) rest += fmt::format("; {} more curves", curves.left_out);
  sheet.paragraph("  ", rest + "; --format csv has all of them");
  return true;
}

bool put_matrix(Sheet& sheet, const Table& table) {
  constexpr std::string_view kShades[] = {"·", "░", "▒", "▓", "█"};
  constexpr std::size_t kLevels = std::size(kShades);
  const auto room = static_cast<std::size_t>(std::max(1, sheet.style.width - 24));
  const std::optional<Heat> heat = heat_of(table, 200, room);
  if (!heat || heat->columns.size() < 2) return false;
  int label = 0;
  for (const std::string& line : heat->lines) label = std::max(label, cells_of(one_line(line)));
  label = std::min(label, 20);
  const int wide = heat->columns.size() * 2 <= room ? 2 : 1;
  const double span = heat->most - heat->least;
  for (std::size_t line = 0; line < heat->lines.size(); ++line) {
    std::string out = "  " + padded(shortened(one_line(heat->lines[line]), label), label, false) + "  ";
    for (std::size_t column = 0; column < heat->columns.size(); ++column) {
      const std::size_t row = heat->row_at[line * heat->columns.size() + column];
      std::string_view shade = " ";
      if (row != Heat::kNowhere && !heat->value->missing(row)) {
        const double place = span > 0 ? (number_at(*heat->value, row) - heat->least) / span : 0;
        shade = kShades[std::min(kLevels - 1, static_cast<std::size_t>(place * kLevels))];
      }
      out += repeated(shade, wide);
    }
    sheet.line(out.substr(0, out.find_last_not_of(' ') + 1));
  }
  sheet.paragraph("  ",
                  fmt::format("lines: {}; across: {} {} … {}; {} · = {} … █ = {}", spoken(heat->down->name),
                              spoken(heat->across->name), heat->columns.front(), heat->columns.back(),
                              spoken(heat->value->name), format_value(heat->least, heat->value->unit),
                              format_value(heat->most, heat->value->unit)));
  return true;
}

}  // namespace stepscope::report
