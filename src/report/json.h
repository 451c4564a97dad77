// A Report as JSON: the contract that the command line, HTTP and Python share. Raw values in the column's
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

/// {"reports":[…]}
std::string to_json(std::span<const Report> reports);

/// `text` with quotes; control characters escaped, wrong bytes replaced by U+FFFD.
std::string json_text(std::string_view text);

}  // namespace stepscope::report
