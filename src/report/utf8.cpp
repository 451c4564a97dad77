#include "report/utf8.h"

#include <algorithm>
#include <iterator>

namespace stepscope::report {
namespace {

struct Lead {
  int more;          ///< continuation bytes that must follow
  unsigned char lo;  ///< bounds of the first of them
  unsigned char hi;
};

/// Table 3-7 of the Unicode standard, chapter 3: which second bytes a first byte allows.
Lead lead_of(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {1, 0x80, 0xBF};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {2, 0x80, 0xBF};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {3, 0x80, 0xBF};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  return {0, 0, 0};
}

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

bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029;
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

char32_t take_code_point(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const Lead lead = lead_of(first);
  if (lead.more == 0) {
    text.remove_prefix(1);
    return first < 0x80 ? first : kReplacement;
  }
  char32_t code = first & (0x3F >> lead.more);
  for (int i = 1; i <= lead.more; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const unsigned char lo = i == 1 ? lead.lo : 0x80, hi = i == 1 ? lead.hi : 0xBF;
    if (at >= text.size() || byte(at) < lo || byte(at) > hi) {
      text.remove_prefix(at);
      return kReplacement;
    }
    code = (code << 6) | (byte(at) & 0x3F);
  }
  text.remove_prefix(static_cast<std::size_t>(lead.more) + 1);
  return code;
}

void append_utf8(std::string& out, char32_t code) {
  const auto put = [&out](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | (code >> 6));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

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

/// How long the first word of `text` is; a number's unit belongs to it.
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
