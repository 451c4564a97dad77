// What a request asks for, decoded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/given.h"

namespace stepscope::serve {

struct Address {
  std::vector<std::string> path;  ///< "api/runs" is {"api", "runs"}; "" is {""}
  report::Given query;            ///< in the order given
};

/// `target`: a path without its leading slash, and perhaps ? and a query. An Error if a % is not followed by
/// two hex digits, or if a control character is encoded.
Result<Address> parse_address(std::string_view target);

/// Takes the first value of that name out of the query; `fallback` if there is none.
std::string take(report::Given& query, std::string_view name, std::string_view fallback = "");

}  // namespace stepscope::serve
