// The args of a range: members of a JSON object that a collector wrote.
#pragma once

#include <string_view>

namespace stepscope::record {

/// Whether the text is members of a JSON object, e.g. `"cat":"data","step":3`, at least one, with values that
/// are texts, numbers, true, false or null. A damaged recording may hold any bytes.
bool are_members(std::string_view text);

}  // namespace stepscope::record
