// The pieces of the HTML page; html.cpp puts them in order. Each appends to `out`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "report/page.h"
#include "report/palette.h"

namespace stepscope::report {

/// For element content and attribute values: control characters made visible, & < > " ' escaped.
std::string escaped(std::string_view text);

/// The style sheet, with the palette as variables for light and dark.
std::string style_sheet();
/// Patterns that charts refer to.
std::string_view chart_patterns();

/// Width of all charts in their own units; the browser scales them.
inline constexpr double kChartWidth = 960;

/// The class of the `index`th part: its family, and a shade when an earlier part has the same one.
std::string part_class(const std::vector<std::string>& names, std::size_t index);

void put_html_table(std::string& out, const Table& table);
/// One bar for a whole, with a legend that carries the numbers.
void put_html_whole(std::string& out, const std::vector<Part>& parts, std::string_view title);
/// One stacked column per row.
void put_html_stack(std::string& out, const Table& table, const Stack& stack);
bool put_html_curve(std::string& out, const Table& table);
bool put_html_matrix(std::string& out, const Table& table);
/// Nested boxes, as wide as their first number; false without a depth column.
bool put_html_flame(std::string& out, const Table& table);

void put_html_verdict(std::string& out, const Table& table);
void put_html_findings(std::string& out, const Table& table);
void put_html_warning(std::string& out, std::string_view text);

}  // namespace stepscope::report
