// The pieces of the HTML page; html.cpp puts them in order. Each appends to `out`.
#pragma once

#include <string>
#include <string_view>

#include "report/html/html.h"
#include "report/judgement.h"
#include "report/page.h"
#include "report/palette.h"

namespace stepscope::report {

/// The style sheet, with the palette as variables for light and dark.
std::string style_sheet();
/// The hatches that charts refer to.
std::string chart_patterns();
/// `body` (with the patterns) and the style sheet, in an element that isolates both from the page around it.
std::string scoped(std::string body);

/// Rows of trees are indented up to this depth.
inline constexpr int kDeepestIndent = 24;

/// Width of all charts in their own units; the browser scales them.
inline constexpr double kChartWidth = 960;

/// The class of a part: its family, so that a kind of work looks the same in every chart.
std::string_view part_class(std::string_view name);

/// The id of the section with that name.
std::string anchor_of(std::string_view name);
/// An analysis, folded if it is long or empty and not `asked_for`. `compared`: a comparison, whose headline
/// (the first table) and notes are shown above.
void put_html_section(std::string& out, const Report& report, bool asked_for, bool compared = false);

void put_html_table(std::string& out, const Table& table);
/// One bar for a whole, with a legend that carries the numbers.
void put_html_whole(std::string& out, const std::vector<Part>& parts, std::string_view title);
/// One stacked column per row; if rows are ranks, one horizontal bar per row. `legend`: false if one is shown
/// already.
void put_html_stack(std::string& out, const Table& table, const Stack& stack, bool legend);
bool put_html_curve(std::string& out, const Table& table);
bool put_html_matrix(std::string& out, const Table& table);
/// Nested boxes, whose width is the first value column; false without a depth column.
bool put_html_flame(std::string& out, const Table& table);

/// A sentence above everything else.
void put_html_headline(std::string& out, const std::string& sentence);
void put_html_verdict(std::string& out, const Verdict& verdict);
/// Findings, a line each with a link to its card, what they save together, and the recording's health.
void put_html_summary(std::string& out, const Verdict& verdict);
/// Cards; an analysis named as evidence is a link if `sections` has it.
void put_html_findings(std::string& out, const Verdict& verdict, const std::vector<const Report*>& sections);
void put_html_warning(std::string& out, std::string_view text);

}  // namespace stepscope::report
