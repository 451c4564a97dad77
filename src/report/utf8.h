// Names come from untrusted files: bytes that may not be UTF-8, control characters, marks that turn text
// around. Every printer reads text through here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace stepscope::report {

/// `text` with wrong bytes replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

/// One line, safe for a terminal and for a page: wrong bytes become U+FFFD, every control character (C0, DEL,
/// C1), line separator and bidirectional mark becomes a visible U+FFFD; a run of tabs and line breaks, with
/// the spaces in it, becomes one space.
std::string one_line(std::string_view text);

/// The same, but tabs and line breaks stay: for fields that hold a text as it is.
std::string without_controls(std::string_view text);

/// Terminal cells `code` takes: 0 for combining marks, 2 for wide East Asian characters and emoji, else 1.
int cells_of(char32_t code);
int cells_of(std::string_view text);

/// `text` in at most `cells` cells; what is too long loses its middle to "…". Both ends of a name tell most.
std::string shortened(std::string_view text, int cells);

/// The same, but the end is lost.
std::string clipped(std::string_view text, int cells);

/// `text` broken at spaces, though not before a number's unit, into lines of at most `cells` cells; longer
/// words are cut.
std::vector<std::string> wrapped(std::string_view text, int cells);

}  // namespace stepscope::report
