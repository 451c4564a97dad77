// A Report for a terminal. All text from a file is made harmless first (report/utf8.h), so no name can move
// the cursor or colour the screen.
#pragma once

#include <cstddef>
#include <string>

#include "report/page.h"
#include "report/table.h"

namespace stepscope::report {

/// The default max rows of a table on a terminal.
inline constexpr std::size_t kRowsOnTerminal = 40;

struct TextStyle {
  int width = 80;  ///< terminal cells; at least 40 are assumed. Only commands to copy may be longer
  bool colour = false;
  std::size_t max_rows = 0;  ///< per table; 0 prints all. A line states how many are left out
  int height = 24;           ///< lines of the first screen of a page; at least 24 are assumed
};

/// `headline`: the sentence in the first table, printed in its place; "" if the first table is like others.
std::string to_text(const Report& report, const TextStyle& style, const std::string& headline = "");
/// Sentences, findings as cards, warnings.
std::string to_text(const Verdict& verdict, const TextStyle& style);

/// The verdict first, then the findings as cards, warnings, the other tables by their shape, and the commands
/// to try next.
std::string to_text(const Page& page, const TextStyle& style);

}  // namespace stepscope::report
