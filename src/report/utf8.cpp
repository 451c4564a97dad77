#include "report/utf8.h"

#include <algorithm>
#include <iterator>

namespace stepscope::report {
namespace {

struct CodeRange {
  char32_t first, last;
};

constexpr CodeRange kNoCells[] = {{0x0300, 0x036F}, {0x0483, 0x0489},  {0x0591, 0x05BD}, {0x0610, 0x061A},
                                  {0x064B, 0x065F}, {0x0900, 0x0902},  {0x093A, 0x093A}, {0x0941, 0x0948},
                                  {0x0E31, 0x0E31}, {0x0E34, 0x0E3A},  {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF},
                                  {0x1DC0, 0x1DFF}, {0x200B, 0x200D},  {0x20D0, 0x20FF}, {0xFE00, 0xFE0F},
                                  {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}};
constexpr CodeRange kTwoCells[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2E80, 0x303E},  {0x3041, 0x33FF},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},  {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
    {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
    {0x1F900, 0x1F9FF}, {0x20000, 0x2FFFD}, {0x30000, 0x3FFFD}};

template <std::size_t N>
bool within(const CodeRange (&ranges)[N], char32_t code) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [code](CodeRange r) { return code >= r.first && code <= r.last; });
}

bool turns_text_around(char32_t code) {
  return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

/// The longest prefix of `text` that fits.
std::string_view head_of(std::string_view text, int cells) {
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view next = rest;
    cells -= cells_of(take_code_point(next));
    if (cells < 0) break;
    rest = next;
  }
  return text.substr(0, text.size() - rest.size());
}

/// The longest suffix of `text` that fits.
std::string_view tail_of(std::string_view text, int cells) {
  int excess = cells_of(text) - cells;
  while (excess > 0 && !text.empty()) excess -= cells_of(take_code_point(text));
  return text;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) append_utf8(out, take_code_point(text));
  return out;
}

std::string one_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool after_break = false;
  while (!text.empty()) {
    const char32_t code = take_code_point(text);
    const bool break_here = code == '\t' || code == '\n' || code == '\r';
    if (after_break && (break_here || code == ' ')) continue;
    after_break = break_here;
    if (break_here)
      out += ' ';
    else
      append_utf8(out, is_control(code) || turns_text_around(code) ? kReplacement : code);
  }
  return out;
}

std::string without_controls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const char32_t code = take_code_point(text);
    const bool stays = code == '\t' || code == '\n' || (code == '\r' && text.starts_with('\n'));
    append_utf8(out, !stays && (is_control(code) || turns_text_around(code)) ? kReplacement : code);
  }
  return out;
}

int cells_of(char32_t code) {
  if (code < 0x300) return 1;
  if (within(kNoCells, code)) return 0;
  return within(kTwoCells, code) ? 2 : 1;
}

int cells_of(std::string_view text) {
  int cells = 0;
  while (!text.empty()) cells += cells_of(take_code_point(text));
  return cells;
}

std::string shortened(std::string_view text, int cells) {
  if (cells_of(text) <= cells) return std::string(text);
  if (cells < 1) return "";
  const int tail = (cells - 1) * 2 / 5;
  return std::string(head_of(text, cells - 1 - tail)) + "…" + std::string(tail_of(text, tail));
}

std::string clipped(std::string_view text, int cells) {
  if (cells_of(text) <= cells) return std::string(text);
  return cells < 1 ? "" : std::string(head_of(text, cells - 1)) + "…";
}

namespace {

/// Length of the first word of `text`, including the unit after a number.
std::size_t word_length(std::string_view text) {
  constexpr std::string_view kUnits[] = {"%",   "ns",  "µs",  "ms",      "s",       "min",  "h",   "B",
                                         "KiB", "MiB", "GiB", "GFLOP/s", "TFLOP/s", "GB/s", "TB/s"};
  const std::size_t space = std::min(text.find(' '), text.size());
  if (space == 0 || space == text.size() || text[space - 1] < '0' || text[space - 1] > '9') return space;
  const std::string_view rest = text.substr(space + 1);
  const std::size_t end = std::min(rest.find_first_of(" ,.;:)"), rest.size());
  for (const std::string_view unit : kUnits)
    if (rest.substr(0, end) == unit) return space + 1 + std::min(rest.find(' '), rest.size());
  return space;
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, int cells) {
  cells = std::max(cells, 2);
  std::vector<std::string> lines;
  std::string line;
  int used = 0;
  while (!text.empty()) {
    const std::size_t length = word_length(text);
    std::string_view word = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    while (!word.empty()) {
      const int wide = cells_of(word);
      if (used > 0 && used + 1 + wide > cells) {
        lines.push_back(std::move(line));
        line.clear();
        used = 0;
      }
      const std::string_view piece = wide > cells ? head_of(word, cells) : word;
      if (used > 0) line += ' ';
      line += piece;
      used += (used > 0 ? 1 : 0) + cells_of(piece);
      word.remove_prefix(piece.size());
    }
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace stepscope::report
