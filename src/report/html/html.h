// A page of reports as one self-contained HTML file: no script, nothing fetched, readable on screen (dark and
// light) and on paper. All text from a trace is escaped, and the file's own policy forbids requests, and
// scripts other than that of a Live page.
#pragma once

#include <string>

#include "report/html/live.h"
#include "report/page.h"
#include "report/table.h"

namespace stepscope::report {

std::string to_html(const Page& page);
/// The same for readers without scripts, for paper and for `grep`; with scripts, the live page is shown.
std::string to_html(const Page& page, const Live& live);
/// `verdict`: the one in the report's tables, nullptr if they have none. `headline`: as Page::headline.
std::string to_html(const Report& report, const Verdict* verdict = nullptr, const std::string& headline = "");

/// The same as a piece of another page, e.g. a cell of a notebook: its styles apply only inside it, and its
/// ids are unique.
std::string to_html_fragment(const Page& page);
std::string to_html_fragment(const Report& report);

/// For element content and attribute values: control characters made visible, & < > " ' escaped.
std::string escaped(std::string_view text);

}  // namespace stepscope::report
