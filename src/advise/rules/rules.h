// The rules, in one list: each looks at one rank's reports and may make one claim. None calls another.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "advise/bound.h"
#include "advise/claim.h"
#include "advise/evidence.h"

namespace stepscope::advise {

struct Rule {
  RuleId id;
  std::string_view one_line;
  bool needs_device;  ///< silent when capture health forbids conclusions about the device
  std::optional<Claim> (*find)(const Evidence&, Bound);
  /// Markdown for docs/advice.md and `explain ID`: what it looks for, in which columns, with which constants;
  /// how the saving is estimated; what else looks alike and keeps it silent.
  std::string_view doc = "";
};

std::span<const Rule> rules();

}  // namespace stepscope::advise
