// The rows that are printed of a table with too many of them.
#pragma once

#include <cstddef>
#include <vector>

#include "report/table.h"

namespace stepscope::report {

/// True if a rank alone identifies each row.
bool is_by_rank(const Table& table);

/// The `count` rows that are furthest from the median row, in the table's order. The distance of a row is
/// that of its furthest number, in robust standard deviations of its column.
std::vector<std::size_t> notable_rows(const Table& table, std::size_t count);

/// The rows that are printed if `most` may be (0: all): the first ones; of too many ranks, those that stand
/// out.
std::vector<std::size_t> printed_rows(const Table& table, std::size_t most);

}  // namespace stepscope::report
