// One page of one table: rows filtered, sorted and cut, in this order.
#pragma once

#include <cstdint>
#include <string>

#include "report/given.h"
#include "report/table.h"
#include "serve/asked.h"

namespace stepscope::serve {

struct PageOfTable {
  std::string sort{};  ///< a column; "": as the table is
  bool descending = false;
  std::string filter{};  ///< a row stays if a cell contains this, of any case
  std::size_t from = 0, count = 200;
};

/// Takes the options of a page out of the query; throws a Refusal if one does not fit.
PageOfTable take_page(report::Given& query);

/// The rows that match the filter, in order; absent values come last. Throws a Refusal if there is no column
/// to sort by.
Rows ordered_rows(const report::Table& table, const PageOfTable& page);

/// The page as JSON. `rows`: those of ordered_rows().
std::string page_of(const report::Table& table, const Rows& rows, const PageOfTable& page);

Response answer_table(Asked& asked);

}  // namespace stepscope::serve
