#include "cli/markdown.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "report/utf8.h"

namespace stepscope::cli {
namespace {

using report::cells_of;
using report::wrapped;

bool letter(char c) {
  return (static_cast<unsigned char>(c) & 0x80) != 0 || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

/// `text` without `code` marks and *emphasis*; a star in code or between spaces stays.
std::string unmarked(std::string_view text) {
  std::string out;
  bool code = false, strong = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '`') {
      code = !code;
      continue;
    }
    const std::size_t end = std::min(text.find_first_not_of('*', i), text.size());
    const bool opens =
        end < text.size() && (letter(text[end]) || text[end] == '`') && (i == 0 || !letter(text[i - 1]));
    const bool closes = strong && i > 0 && text[i - 1] != ' ';
    if (c == '*' && !code && (opens || closes)) {
      strong = opens && !closes;
      i = end - 1;
      continue;
    }
    out += c;
  }
  return out;
}

std::vector<std::string> cells_of_row(std::string_view line) {
  std::vector<std::string> cells;
  for (std::size_t at = 1; at < line.size();) {
    const std::size_t end = std::min(line.find('|', at), line.size());
    cells.push_back(unmarked(trimmed(line.substr(at, end - at))));
    at = end + 1;
  }
  return cells;
}

/// Puts `text` after `front`, or below it if `front` is long.
void put_hanging(std::string& out, const std::string& front, std::string_view text, int indent, int columns) {
  std::string margin = front;
  if (!front.empty() && cells_of(front) + (front.ends_with(' ') ? 0 : 2) > indent) {
    const std::size_t inner = front.find_first_not_of(' ');
    for (const std::string& line : wrapped(front.substr(inner), columns - static_cast<int>(inner)))
      out += std::string(inner, ' ') + line + '\n';
    margin.clear();
  }
  for (const std::string& line : wrapped(text, columns - indent)) {
    out += margin + std::string(static_cast<std::size_t>(indent - cells_of(margin)), ' ') + line + '\n';
    margin.clear();
  }
}

/// The last column wraps. The others are joined before it; if they are long, it begins on a line of its own.
void put_table(std::string& out, const std::vector<std::string_view>& lines, int columns) {
  constexpr int kWidestFront = 24;
  std::vector<std::pair<std::string, std::string>> rows;
  int widest = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i < 2) continue;  // the headings and the line below them
    const std::vector<std::string> cells = cells_of_row(lines[i]);
    std::string front = "  ";
    for (std::size_t c = 0; c + 1 < cells.size(); ++c) front += (c == 0 ? "" : "  ") + cells[c];
    if (cells_of(front) + 2 <= std::min(kWidestFront, columns / 2))
      widest = std::max(widest, cells_of(front));
    rows.emplace_back(front, cells.empty() ? "" : cells.back());
  }
  const int indent = std::max(widest + 2, 8);
  for (const auto& [front, text] : rows) put_hanging(out, front, text, indent, columns);
}

}  // namespace

std::string plain_text(std::string_view markdown, int columns) {
  std::string out, paragraph;
  std::vector<std::string_view> table;
  const auto flush = [&] {
    const bool item = paragraph.starts_with("- ");
    if (!paragraph.empty())
      put_hanging(out, item ? "- " : "", unmarked(std::string_view(paragraph).substr(item ? 2 : 0)),
                  item ? 2 : 0, columns);
    if (!table.empty()) put_table(out, table, columns);
    paragraph.clear();
    table.clear();
  };
  while (!markdown.empty()) {
    const std::size_t end = std::min(markdown.find('\n'), markdown.size());
    const std::string_view line = markdown.substr(0, end);
    markdown.remove_prefix(std::min(end + 1, markdown.size()));
    const bool row = line.starts_with('|');
    if (line.empty() || line.starts_with("- ") || row != !table.empty()) flush();
    if (line.empty()) {
      out += '\n';
    } else if (row) {
      table.push_back(line);
    } else {
      const std::size_t from = line.find_first_not_of(' ');
      paragraph += (paragraph.empty() ? "" : " ") + std::string(line.substr(std::min(from, line.size())));
    }
  }
  flush();
  return out;
}

}  // namespace stepscope::cli
