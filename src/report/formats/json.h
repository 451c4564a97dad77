// A Report as JSON: the contract that the command line and Python share. Raw values in the column's
// unit, times as integer nanoseconds, absent values as null, never NaN. Always valid UTF-8 and valid JSON.
//   {"report":"steps","tables":[{"title":"…","shape":"table","columns":[{"name":"…","unit":"ns","role":"value"}],
//    "rows":[[…]]}],"notes":["…"]}
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/table.h"

namespace stepscope::report {

std::string to_json(const Report& report);

/// The members of a table's object, without its braces.
std::string json_members(const Table& table);

/// {"reports":[…]}
std::string to_json(std::span<const Report> reports);

/// A report of one table in pieces: head, the rows of tables with the same columns, tail.
std::string json_head(std::string_view report, const Table& table);
std::string json_rows(const Table& table, bool first);
std::string json_tail();

}  // namespace stepscope::report
