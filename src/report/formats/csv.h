// A Report as CSV (RFC 4180): a header row of column names, raw values in the column's unit, absent values
// empty, lines ended by CR LF. Several tables are separated by a blank line and a line "# title"; a single
// table has neither. Notes are not part of it: the caller shows them elsewhere.
#pragma once

#include <span>
#include <string>

#include "report/table.h"

namespace stepscope::report {

std::string to_csv(const Table& table);
/// A table in pieces: the row of names, then the rows of tables with the same columns.
std::string csv_head(const Table& table);
std::string csv_rows(const Table& table);
std::string to_csv(const Report& report);

/// The title lines also name the report: "# report: title".
std::string to_csv(std::span<const Report> reports);

}  // namespace stepscope::report
