#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "report/html/parts.h"
#include "report/text/layout.h"
#include "report/units.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kMaxColumns = 400;
constexpr double kBarsLeft = 64, kBarsTop = 8, kBarsHigh = 160, kBottom = 26;

void put_swatch(std::string& out, std::string_view css, const std::string& words) {
  out += fmt::format(
      R"(<li><svg viewBox="0 0 14 14" aria-hidden="true"><rect class="{}" width="14" height="14" rx="2"/></svg>{}</li>)",
      css, words);
}

std::vector<std::string> names_of(const Stack& stack) {
  std::vector<std::string> names;
  names.reserve(stack.parts.size());
  for (const Column* part : stack.parts) names.push_back(spoken(part->name));
  return names;
}

/// A round distance, 1, 2 or 5 times a power of ten, between at most five grid lines up to `most`.
double line_distance(double most) {
  const double raw = most / 4;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double step : {1.0, 2.0, 5.0})
    if (raw <= step * power) return step * power;
  return 10 * power;
}

void put_axis(std::string& out, double most, Unit unit) {
  const double distance = line_distance(most);
  for (double at = 0; at <= most * 1.0001; at += distance) {
    const double y = kBarsTop + kBarsHigh * (1 - at / most);
    out += fmt::format(R"(<line class="grid" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)", kBarsLeft,
                       kChartWidth, y, y);
    out += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", kBarsLeft - 8, y + 4,
                       escaped(at == 0 ? "0" : format_rough(at, unit)));
  }
}

void put_column(std::string& out, const Stack& stack, const std::vector<std::string>& names, std::size_t row,
                double x, double width, double most) {
  const Unit unit = stack.parts.front()->unit;
  const std::string label = label_of(stack, row);
  double y = kBarsTop + kBarsHigh;
  for (std::size_t i = 0; i < stack.parts.size(); ++i) {
    const double length = part_length(stack, i, row);
    const double high = length / most * kBarsHigh;
    if (!(high > 0)) continue;
    y -= high;
    out += fmt::format(
        R"(<rect class="{}" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}"><title>{}</title></rect>)",
        part_class(names[i]), x, y, width, high,
        escaped(label + ": " + names[i] + " " + format_value(length, unit) + " of " +
                format_value(bar_length(stack, row), unit)));
  }
}

/// One bar per row, after the name of its rank.
void put_rows(std::string& out, const Table& table, const Stack& stack, const std::vector<std::string>& names,
              std::size_t rows, double most) {
  constexpr double kEnd = 72, kLine = 20;
  const double room = kChartWidth - kBarsLeft - kEnd;
  out += fmt::format(R"(<svg viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}">)", kChartWidth,
                     kLine * static_cast<double>(rows), escaped(table.title));
  for (std::size_t row = 0; row < rows; ++row) {
    const double y = kLine * static_cast<double>(row);
    const std::string label = label_of(stack, row);
    const std::string whole = format_value(bar_length(stack, row), stack.parts.front()->unit);
    out += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", kBarsLeft - 8, y + 14,
                       escaped(label));
    double x = kBarsLeft;
    for (std::size_t i = 0; i < stack.parts.size(); ++i) {
      const double length = part_length(stack, i, row), wide = length / most * room;
      if (!(wide > 0)) continue;
      out += fmt::format(
          R"(<rect class="{}" x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{:.1f}"><title>{}</title></rect>)",
          part_class(names[i]), x, y + 1, wide, kLine - 3,
          escaped(label + ": " + names[i] + " " + format_value(length, stack.parts.front()->unit) + " of " +
                  whole));
      x += wide;
    }
    out += fmt::format(R"(<text x="{:.1f}" y="{:.1f}">{}</text>)", x + 8, y + 14, escaped(whole));
  }
  out += "</svg>\n";
}

void put_columns(std::string& out, const Table& table, const Stack& stack,
                 const std::vector<std::string>& names, std::size_t rows, double most) {
  constexpr double kLetter = 6.6, kGapOfLabels = 14;
  out += fmt::format(R"(<svg viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}">)", kChartWidth,
                     kBarsTop + kBarsHigh + kBottom, escaped(table.title));
  put_axis(out, most, stack.parts.front()->unit);
  const double pitch = (kChartWidth - kBarsLeft) / static_cast<double>(rows);
  const double width = std::min(pitch * 0.84, 96.0);
  int longest = 0;
  for (std::size_t row = 0; row < rows; ++row) longest = std::max(longest, cells_of(label_of(stack, row)));
  const double label = std::max(80.0, longest * kLetter + kGapOfLabels);
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(label / pitch)));
  for (std::size_t row = 0; row < rows; ++row) {
    const double middle = kBarsLeft + pitch * (static_cast<double>(row) + 0.5);
    put_column(out, stack, names, row, middle - width / 2, width, most);
    if (row % every == 0)
      out += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", middle,
                         kBarsTop + kBarsHigh + 18, escaped(label_of(stack, row)));
  }
  out += "</svg>\n";
}

void put_legend(std::string& out, const std::vector<std::string>& names, const std::vector<double>& sums) {
  out += "<ul class=\"legend\">";
  for (std::size_t i = 0; i < names.size(); ++i)
    if (sums[i] > 0) put_swatch(out, part_class(names[i]), escaped(names[i]));
  out += "</ul>\n";
}

}  // namespace

std::string_view part_class(std::string_view name) { return paint_of(family_of(name)).name; }

void put_html_whole(std::string& out, const std::vector<Part>& parts, std::string_view title) {
  std::vector<std::string> names;
  names.reserve(parts.size());
  for (const Part& part : parts) names.push_back(spoken(part.name));
  out +=
      fmt::format(R"(<svg viewBox="0 0 {:.0f} 46" role="img" aria-label="{}">)", kChartWidth, escaped(title));
  double x = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double width = std::clamp(parts[i].share, 0.0, 1.0) * kChartWidth;
    if (width <= 0) continue;
    const std::string share = format_rough(parts[i].share, Unit::share);
    out += fmt::format(
        R"(<rect class="{} box" x="{:.2f}" y="0" width="{:.2f}" height="44"><title>{}</title></rect>)",
        part_class(names[i]), x, width, escaped(names[i] + " " + parts[i].amount + ", " + share));
    if (width > 12 + 7.2 * static_cast<double>(names[i].size()))
      out += fmt::format(R"(<text class="on on-{}" x="{:.2f}" y="27">{}</text>)", part_class(names[i]), x + 8,
                         escaped(names[i]));
    x += width;
  }
  out += "</svg>\n<ul class=\"legend\">";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].share <= 0) continue;
    put_swatch(out, part_class(names[i]),
               fmt::format("{} <b>{}</b> <span>{}</span>", escaped(names[i]), escaped(parts[i].amount),
                           escaped(format_value(parts[i].share, Unit::share))));
  }
  out += "</ul>\n";
}

void put_html_stack(std::string& out, const Table& table, const Stack& stack, bool legend) {
  const std::size_t rows = std::min(table.rows(), kMaxColumns);
  const std::vector<std::string> names = names_of(stack);
  double most = 0;
  std::vector<double> sums(names.size(), 0.0);
  for (std::size_t row = 0; row < rows; ++row) {
    most = std::max(most, bar_length(stack, row));
    for (std::size_t i = 0; i < names.size(); ++i) sums[i] += part_length(stack, i, row);
  }
  if (!(most > 0) || !std::isfinite(most)) return;
  const auto put = compares_ranks(stack) ? put_rows : put_columns;
  put(out, table, stack, names, rows, most);
  if (legend) put_legend(out, names, sums);
  if (rows < table.rows())
    out += fmt::format("<p class=\"more\">The first {} of {}.</p>\n", rows, table.rows());
}

}  // namespace stepscope::report
