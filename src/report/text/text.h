// A Report for a terminal. Everything that came from a file is made harmless first (report/utf8.h), so no
// name can move the cursor or colour the screen.
#pragma once

#include <cstddef>
#include <string>

#include "report/page.h"
#include "report/table.h"

namespace stepscope::report {

/// Of a table on a screen, unless somebody asked for more.
inline constexpr std::size_t kRowsOnTerminal = 40;

struct TextStyle {
  int width = 80;  ///< terminal cells; at least 40 are assumed. Only commands to copy may be longer
  bool colour = false;
  std::size_t max_rows = 0;  ///< per table; 0 prints all. What is left out is said
  int height = 24;           ///< of the first screen of a page, lines; at least 24 are assumed
};

/// `headline`: the sentence that its first table prints, "" when that is a table like others.
std::string to_text(const Report& report, const TextStyle& style, const std::string& headline = "");
/// Sentences, findings as cards, warnings.
std::string to_text(const Verdict& verdict, const TextStyle& style);

/// The verdict first, then the findings as cards, warnings, the other tables by their shape, and what to try
/// next.
std::string to_text(const Page& page, const TextStyle& style);

}  // namespace stepscope::report
