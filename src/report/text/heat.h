// A table of shape `matrix` (key, key, value) as a grid of shares of the largest value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/table.h"

namespace stepscope::report {

struct Heat {
  const Column* down = nullptr;    ///< first key: one line per distinct value
  const Column* across = nullptr;  ///< second key
  const Column* value = nullptr;   ///< first numeric value column
  std::vector<std::string> lines, columns;
  std::vector<std::size_t> row_at;  ///< table row of each cell, line by line; kNowhere: no row
  double least = 0, most = 0;

  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
};

/// nullopt unless there are two keys, a numeric value, and at most `max_lines` x `max_columns` cells, each
/// given once.
std::optional<Heat> heat_of(const Table& table, std::size_t max_lines, std::size_t max_columns);

}  // namespace stepscope::report
