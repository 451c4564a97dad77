// The rules, in one array: each looks at one rank's reports and may return one finding. None calls another.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "advise/bound.h"
#include "advise/evidence.h"
#include "advise/finding.h"

namespace stepscope::advise {

struct Rule {
  std::string_view id, category, one_line;
  bool needs_device;  ///< silent when capture health forbids conclusions about the device
  std::optional<Finding> (*find)(const Evidence&, Bound);
};

std::span<const Rule> rules();

}  // namespace stepscope::advise
