#include "report/text/heat.h"

#include <algorithm>
#include <map>

#include "report/text/layout.h"
#include "report/units.h"

namespace stepscope::report {
namespace {

/// Adds a name unless it is there already; false beyond `most` names.
bool place(std::map<std::string, std::size_t>& at, std::vector<std::string>& names, std::string name,
           std::size_t most) {
  if (at.try_emplace(name, names.size()).second) names.push_back(std::move(name));
  return names.size() <= most;
}

}  // namespace

std::optional<Heat> heat_of(const Table& table, std::size_t max_lines, std::size_t max_columns) {
  Heat heat;
  std::size_t keys = 0;
  for (const Column& c : table.columns) {
    if (c.role == Role::key) {
      (keys == 0 ? heat.down : heat.across) = &c;
      ++keys;
    } else if (heat.value == nullptr && !is_text(c)) {
      heat.value = &c;
    }
  }
  if (keys != 2 || heat.value == nullptr || table.rows() == 0) return std::nullopt;
  std::map<std::string, std::size_t> line_at, column_at;
  for (std::size_t row = 0; row < table.rows(); ++row)
    if (!place(line_at, heat.lines, format_value(*heat.down, row), max_lines) ||
        !place(column_at, heat.columns, format_value(*heat.across, row), max_columns))
      return std::nullopt;
  heat.row_at.assign(heat.lines.size() * heat.columns.size(), Heat::kNowhere);
  bool first = true;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::size_t& cell = heat.row_at[line_at[format_value(*heat.down, row)] * heat.columns.size() +
                                    column_at[format_value(*heat.across, row)]];
    if (cell != Heat::kNowhere) return std::nullopt;
    cell = row;
    if (heat.value->missing(row)) continue;
    const double value = number_at(*heat.value, row);
    heat.least = first ? value : std::min(heat.least, value);
    heat.most = first ? value : std::max(heat.most, value);
    first = false;
  }
  return heat;
}

}  // namespace stepscope::report
