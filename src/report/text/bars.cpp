#include <fmt/format.h>

#include <algorithm>

#include "report/palette.h"
#include "report/text/layout.h"
#include "report/text/notable.h"
#include "report/text/parts.h"
#include "report/units.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

struct Look {
  std::string_view cell;
  int colour;
};

std::vector<Look> looks_of(const std::vector<std::string>& names) {
  std::vector<Look> looks;
  for (const std::string& name : names) {
    const Paint& paint = paint_of(family_of(name));
    looks.push_back({paint.cell, paint.terminal});
  }
  return looks;
}

std::string painted(const Sheet& sheet, const std::vector<int>& cells, const std::vector<Look>& looks) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i)
    out += sheet.ink.paint(looks[i].colour, repeated(looks[i].cell, cells[i]));
  return out;
}

/// Entries side by side, as many as fit in a line.
void put_legend(Sheet& sheet, const std::vector<std::string>& entries, const std::vector<Look>& looks) {
  std::string line = "  ";
  int used = 2;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const int wide = 2 + cells_of(entries[i]);
    if (used > 2 && used + wide > sheet.style.width) {
      sheet.line(line.substr(0, line.find_last_not_of(' ') + 1));
      line = "  ";
      used = 2;
    }
    line +=
        sheet.ink.paint(looks[i].colour, looks[i].cell) + " " + clipped(entries[i], sheet.style.width - 4);
    line += "   ";
    used += wide + 3;
  }
  if (used > 2) sheet.line(line.substr(0, line.find_last_not_of(' ') + 1));
}

std::vector<std::string> labels_of(const Stack& stack, const std::vector<std::size_t>& rows) {
  std::vector<std::string> labels;
  labels.reserve(rows.size());
  for (const std::size_t row : rows) labels.push_back(shortened(one_line(label_of(stack, row)), 20));
  return labels;
}

int widest(const std::vector<std::string>& texts) {
  int most = 0;
  for (const std::string& text : texts) most = std::max(most, cells_of(text));
  return most;
}

}  // namespace

void put_stack(Sheet& sheet, const Table& table, const Stack& stack) {
  const std::vector<std::size_t> rows = printed_rows(table, sheet.style.max_rows);
  std::vector<double> sums(stack.parts.size(), 0.0);
  double longest = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    longest = std::max(longest, bar_length(stack, row));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += part_length(stack, i, row);
  }
  std::vector<std::string> names, used_names, ends;
  for (const Column* part : stack.parts) names.push_back(spoken(part->name));
  const std::vector<Look> looks = looks_of(names);
  std::vector<Look> used_looks;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (sums[i] <= 0) continue;
    used_names.push_back(names[i]);
    used_looks.push_back(looks[i]);
  }
  const std::vector<std::string> labels = labels_of(stack, rows);
  for (const std::size_t row : rows)
    ends.push_back(format_value(bar_length(stack, row), stack.parts.front()->unit));
  const int label_width = widest(labels);
  const int room = std::max(8, sheet.style.width - 2 - label_width - 2 - 1 - widest(ends));
  for (std::size_t bar = 0; bar < rows.size(); ++bar) {
    std::vector<double> lengths;
    lengths.reserve(stack.parts.size());
    for (std::size_t i = 0; i < stack.parts.size(); ++i) lengths.push_back(part_length(stack, i, rows[bar]));
    const std::vector<int> cells = cells_per_part(lengths, longest, room);
    const int gap = label_width - cells_of(labels[bar]);
    sheet.line("  " + repeated(" ", gap) + labels[bar] + "  " + painted(sheet, cells, looks) + " " +
               ends[bar]);
  }
  put_legend(sheet, used_names, used_looks);
}

void put_whole(Sheet& sheet, const std::vector<Part>& parts) {
  std::vector<double> shares;
  std::vector<std::string> names, entries;
  std::vector<Part> shown;
  for (const Part& part : parts)
    if (part.share > 0) shown.push_back(part);
  for (const Part& part : shown) {
    shares.push_back(part.share);
    names.push_back(part.name);
    const std::string amount = part.amount.empty() ? "" : part.amount + ", ";
    entries.push_back(
        fmt::format("{} {}{}", spoken(part.name), amount, format_value(part.share, Unit::share)));
  }
  const std::vector<Look> looks = looks_of(names);
  const int room = std::min(sheet.style.width - 2, 100);
  sheet.line("  " + painted(sheet, cells_per_part(shares, 1.0, room), looks));
  put_legend(sheet, entries, looks);
}

}  // namespace stepscope::report
