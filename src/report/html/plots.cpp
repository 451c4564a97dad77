#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/html/parts.h"
#include "report/series.h"
#include "report/text/heat.h"
#include "report/text/layout.h"
#include "report/units.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kMaxPlots = 12;
constexpr double kPlotLeft = 84, kPlotTop = 8, kPlotHigh = 140;
constexpr int kColumns = 600;

std::string path_of(const std::vector<Span>& spans, Extent y) {
  std::string path;
  const double pitch = (kChartWidth - kPlotLeft) / static_cast<double>(spans.size() - 1);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].low > spans[i].high) continue;
    const double x = kPlotLeft + pitch * static_cast<double>(i);
    for (const double value : {spans[i].low, spans[i].high}) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', x,
                          kPlotTop + kPlotHigh * (1 - place_in(y, value)));
      if (spans[i].low == spans[i].high) break;
    }
  }
  return path;
}

void put_plot(std::string& out, const Series& series, const Column& x_column, Extent x) {
  const Extent y = extent_of(series.y, true);
  const double most = *std::max_element(series.y.begin(), series.y.end());
  const std::string name = escaped(spoken(series.name));
  out += fmt::format("<h3>{} <span class=\"quiet\">max {}, last {}</span></h3>", name,
                     escaped(format_value(most, series.unit)),
                     escaped(format_value(series.y.back(), series.unit)));
  out += fmt::format(R"(<svg viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}">)", kChartWidth,
                     kPlotTop + kPlotHigh + 24, name);
  for (const double at : {y.low, (y.low + y.high) / 2, y.high}) {
    const double line = kPlotTop + kPlotHigh * (1 - place_in(y, at));
    out += fmt::format(R"(<line class="grid" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)", kPlotLeft,
                       kChartWidth, line, line);
    out += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", kPlotLeft - 8, line + 4,
                       escaped(format_value(at, series.unit)));
  }
  const std::string path = path_of(spans_of(series, x, kColumns), y);
  const double first = kPlotLeft + (kChartWidth - kPlotLeft) * place_in(x, series.x.front());
  const double last = kPlotLeft + (kChartWidth - kPlotLeft) * place_in(x, series.x.back());
  const double base = kPlotTop + kPlotHigh * (1 - place_in(y, 0));
  out += fmt::format(R"(<path class="area" d="{}L{:.1f} {:.1f}L{:.1f} {:.1f}Z"/>)", path, last, base, first,
                     base);
  out += fmt::format(R"(<path class="curve" d="{}"/>)", path);
  out += fmt::format(R"(<text x="{:.1f}" y="{:.1f}">{}</text>)", kPlotLeft, kPlotTop + kPlotHigh + 18,
                     escaped(format_x(x_column, x.low)));
  out += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text></svg>)", kChartWidth,
                     kPlotTop + kPlotHigh + 18, escaped(format_x(x_column, x.high)));
  out += '\n';
}

}  // namespace

bool put_html_curve(std::string& out, const Table& table) {
  const Curves curves = curves_of(table, kMaxPlots);
  if (curves.x == nullptr || curves.series.empty() || table.rows() < 2) return false;
  std::vector<double> all_x;
  for (const Series& s : curves.series) all_x.insert(all_x.end(), s.x.begin(), s.x.end());
  const Extent x = extent_of(all_x, false);
  for (const Series& series : curves.series) put_plot(out, series, *curves.x, x);
  if (curves.left_out > 0) out += fmt::format("<p class=\"more\">{} more curves.</p>\n", curves.left_out);
  return true;
}

bool put_html_matrix(std::string& out, const Table& table) {
  const std::optional<Heat> heat = heat_of(table, 128, 512);
  if (!heat) return false;
  const double left = 120, line = 20;
  const double pitch = std::min(60.0, (kChartWidth - left) / static_cast<double>(heat->columns.size()));
  const double high = line * static_cast<double>(heat->lines.size());
  out += fmt::format(R"(<svg viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}">)", kChartWidth,
                     high + 24, escaped(table.title));
  const Extent extent{heat->least, heat->most > heat->least ? heat->most : heat->least + 1};
  for (std::size_t i = 0; i < heat->lines.size(); ++i) {
    const double y = line * static_cast<double>(i);
    out += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", left - 8, y + 14,
                       escaped(shortened(one_line(heat->lines[i]), 16)));
    for (std::size_t j = 0; j < heat->columns.size(); ++j) {
      const std::size_t row = heat->row_at[i * heat->columns.size() + j];
      if (row == Heat::kNowhere || heat->value->missing(row)) continue;
      out += fmt::format(
          R"(<rect class="heat box" x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{:.1f}" fill-opacity="{:.3f}"><title>{}</title></rect>)",
          left + pitch * static_cast<double>(j), y, pitch, line,
          0.08 + 0.92 * place_in(extent, number_at(*heat->value, row)),
          escaped(heat->down->name + " " + heat->lines[i] + ", " + heat->across->name + " " +
                  heat->columns[j] + ": " + format_value(*heat->value, row)));
    }
  }
  const std::size_t every = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(60 / pitch)));
  for (std::size_t j = 0; j < heat->columns.size(); j += every)
    out += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)",
                       left + pitch * (static_cast<double>(j) + 0.5), high + 16,
                       escaped(shortened(one_line(heat->columns[j]), 10)));
  out += "</svg>\n";
  out +=
      fmt::format("<p class=\"more\">{} down, {} across; {} from {} (pale) to {} (strong).</p>\n",
                  escaped(spoken(heat->down->name)), escaped(spoken(heat->across->name)),
                  escaped(spoken(heat->value->name)), escaped(format_value(heat->least, heat->value->unit)),
                  escaped(format_value(heat->most, heat->value->unit)));
  return true;
}

}  // namespace stepscope::report
