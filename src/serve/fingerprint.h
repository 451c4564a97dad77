// Names of contents that are the same in every process: of assets, answers and recordings.
#pragma once

#include <string>
#include <string_view>

namespace stepscope::serve {

/// 16 hex digits. No protection against somebody who looks for two texts with the same name.
std::string fingerprint(std::string_view text);

}  // namespace stepscope::serve
