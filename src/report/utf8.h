// Names come from untrusted files: they may hold invalid UTF-8, control characters and bidirectional marks.
// Every printer reads text through here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace stepscope::report {

/// `text` with invalid bytes replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

/// One line, safe for a terminal and for a page: invalid bytes become U+FFFD, every control character (C0,
/// DEL, C1), line separator and bidirectional mark becomes a visible U+FFFD; a run of tabs and line breaks,
/// with the spaces in it, becomes one space.
std::string one_line(std::string_view text);

/// The same, but tabs and line breaks stay: for fields that hold a text as it is.
std::string without_controls(std::string_view text);

/// Terminal cells `code` takes: 0 for combining marks, 2 for wide East Asian characters and emoji, else 1.
int cells_of(char32_t code);
int cells_of(std::string_view text);

/// `text` in at most `cells` cells: if it is too long, "…" replaces its middle, as both ends of a name matter
/// most.
std::string shortened(std::string_view text, int cells);

/// The same, but "…" replaces the end.
std::string clipped(std::string_view text, int cells);

/// `text` broken at spaces, though not before a number's unit, into lines of at most `cells` cells; longer
/// words are cut.
std::vector<std::string> wrapped(std::string_view text, int cells);

}  // namespace stepscope::report
