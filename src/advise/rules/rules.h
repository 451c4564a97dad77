// The rules, in one list: each looks at one rank's reports and may make one claim. None calls another.
#pragma once

#include <algorithm>
#include <concepts>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "advise/bound.h"
#include "advise/claim.h"
#include "advise/evidence.h"
#include "advise/rules/constants.h"

namespace stepscope::advise {

/// Calls `tell(constant, end)` for each word like "kMinSteps" in `text`; `constant` is nullptr if the word
/// names none.
constexpr void visit_constants(std::string_view text, auto tell) {
  const auto in = [](char c, char first, char last) { return first <= c && c <= last; };
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = ++end) {
    while (end < text.size() && (in(text[end], 'a', 'z') || in(text[end], 'A', 'Z'))) ++end;
    if (end - begin < 3 || text[begin] != 'k' || !in(text[begin + 1], 'A', 'Z')) continue;
    const auto* found = std::find_if(std::begin(kConstants), std::end(kConstants), [&](const Constant& c) {
      return c.name == text.substr(begin, end - begin);
    });
    tell(found == std::end(kConstants) ? nullptr : found, end);
  }
}

/// A text that names constants; a name that is not in kConstants does not compile.
struct RuleText {
  std::string_view text;

  consteval RuleText(const std::convertible_to<std::string_view> auto& its_text) : text(its_text) {
    visit_constants(text, [](const Constant* constant, std::size_t) {
      if (constant == nullptr) throw std::logic_error("no such constant");
    });
  }
};

struct Rule {
  RuleId id;
  std::string_view one_line;
  bool needs_device;  ///< silent when capture health forbids conclusions about the device
  std::optional<Claim> (*find)(const Evidence&, Bound);
  /// Markdown for docs/advice.md and `explain ID`: what the rule looks for, in which columns, with which
  /// constants; how the saving is estimated; which similar cases keep it silent.
  RuleText doc;
};

std::span<const Rule> rules();

}  // namespace stepscope::advise
