#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "report/html/parts.h"
#include "report/names.h"
#include "report/text/layout.h"
#include "report/units.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kDeepest = 48, kMaxBoxes = 4000;
constexpr double kThinnest = 0.4, kLine = 20;

struct Flame {
  const Column* name = nullptr;
  const Column* depth = nullptr;
  const Column* length = nullptr;
};

Flame columns_of(const Table& table) {
  Flame flame;
  for (const Column& c : table.columns) {
    const bool text = is_text(c);
    if (c.role == Role::depth && !text) flame.depth = &c;
    if (c.role == Role::key && text && flame.name == nullptr) flame.name = &c;
    if (c.role == Role::value && !text && flame.length == nullptr) flame.length = &c;
  }
  return flame;
}

std::size_t level_of(const Flame& flame, std::size_t row) {
  return static_cast<std::size_t>(std::clamp(number_at(*flame.depth, row), 0.0, 1e6));
}

double length_of(const Flame& flame, std::size_t row) { return std::max(0.0, number_at(*flame.length, row)); }

void put_box(std::string& out, const Flame& flame, std::size_t row, double x, double width,
             std::size_t level) {
  const std::string name = format_value(*flame.name, row);
  const double y = kLine * static_cast<double>(level);
  const Paint& paint = paint_of(level % 2 == 0 ? Family::host : Family::host_backward);
  out += fmt::format(
      R"(<rect class="box flat {}" x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{:.1f}"><title>{}</title></rect>)",
      paint.name, x, y, width, kLine, escaped(name + ": " + format_value(*flame.length, row)));
  const int letters = static_cast<int>((width - 8) / 7.2);
  if (letters >= 3)
    out += fmt::format(R"(<text class="on on-{}" x="{:.2f}" y="{:.1f}">{}</text>)", paint.name, x + 4, y + 14,
                       escaped(short_name(one_line(name), letters)));
}

}  // namespace

bool put_html_flame(std::string& out, const Table& table) {
  const Flame flame = columns_of(table);
  if (flame.name == nullptr || flame.depth == nullptr || flame.length == nullptr) return false;
  double total = 0;
  std::size_t deepest = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (level_of(flame, row) == 0) total += length_of(flame, row);
    deepest = std::max(deepest, std::min(level_of(flame, row), kDeepest));
  }
  if (!(total > 0) || !std::isfinite(total)) return false;
  out += fmt::format(R"(<svg viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}">)", kChartWidth,
                     kLine * static_cast<double>(deepest + 1), escaped(table.title));
  // next[d]: where the next box of depth d begins; set by its parent, moved by its siblings.
  std::vector<double> next(kDeepest + 2, 0.0);
  std::size_t boxes = 0;
  for (std::size_t row = 0; row < table.rows() && boxes < kMaxBoxes; ++row) {
    const std::size_t level = level_of(flame, row);
    if (level > kDeepest) continue;
    const double width = length_of(flame, row) / total * kChartWidth;
    const double x = next[level];
    next[level + 1] = x;
    next[level] = x + width;
    if (width < kThinnest || x >= kChartWidth) continue;
    put_box(out, flame, row, x, std::min(width, kChartWidth - x), level);
    ++boxes;
  }
  out += "</svg>\n";
  return true;
}

}  // namespace stepscope::report
