// Values as people give them, by name, turned into Params. Shell, Python and HTTP refuse them with the same
// sentences.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "report/params.h"

namespace stepscope::report {

using Given = std::vector<std::pair<std::string, std::string>>;  ///< in the order given

/// Stores the value of `spec`; a text that may be given several times is appended. Returns one sentence if
/// the value does not fit or is given twice, else "".
std::string store(const ParamSpec& spec, std::string value, Params& params);

/// One sentence about an option that is not in `known`. All options include their dashes.
std::string no_such_option(std::string_view typed, const std::vector<std::string>& known);

/// The values of `specs`; an Error if one is unknown or does not fit.
Result<Params> params_of(const Given& given, std::span<const ParamSpec> specs);

}  // namespace stepscope::report
