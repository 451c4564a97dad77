// Numbers for people. The only place where a raw value gets a scale, a unit and a number of digits; the web
// page follows the same golden cases (test/golden/units.json).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/table.h"

namespace stepscope::report {

/// Three significant digits and a unit: "59.3 ms", "1.50 GiB", "12.3 %", "3.09 TB/s". Bytes scale by 1024,
/// times above 1000 s by 60 (min, h), everything else by 1000. Counts get thousands separators. Plain
/// integers (Unit::none) stay as they are. Absent values (kNoInt, NaN, infinities) give "".
std::string format_value(std::int64_t value, Unit unit);
std::string format_value(double value, Unit unit);

/// The value of one row for people; texts as they are.
std::string format_value(const Column& column, std::size_t row);

/// The same to two significant digits without trailing zeros, for estimates: "59 ms", "8.7 ms".
std::string format_rough(double value, Unit unit);

/// The number in one row; 0 when it is absent or a text.
double number_at(const Column& column, std::size_t row);

/// A whole column, to be printed right-aligned: one unit and one number of decimals, so that digits can be
/// compared down the column; a value too small for them is "<0.001 ms". Counts are written in full.
std::vector<std::string> format_cells(const Column& column);
/// All columns of a table. A change and the two columns before it, which it is the difference of, have one
/// unit.
std::vector<std::vector<std::string>> format_cells(const Table& table);

}  // namespace stepscope::report
