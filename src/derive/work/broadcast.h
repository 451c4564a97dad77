// Right-aligned broadcasting of sizes.
#pragma once

#include <optional>
#include <vector>

#include "derive/work/op_args.h"

namespace stepscope::derive {

/// Sizes after broadcasting `left` with `right`; nothing when two sizes differ and neither is 1.
std::optional<std::vector<std::int64_t>> broadcast(const std::vector<std::int64_t>& left,
                                                   const std::vector<std::int64_t>& right);

}  // namespace stepscope::derive
