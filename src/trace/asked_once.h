// A yes-or-no question about texts.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/string_pool.h"

namespace stepscope::trace {

/// `Ask` is called with a text when its id comes up first; rows of one name then cost one load. The pool must
/// not grow meanwhile.
template <class Ask>
class AskedOnce {
 public:
  AskedOnce(const StringPool& strings, Ask ask)
      : strings_(strings), ask_(std::move(ask)), known_(strings.size(), kUnasked) {}

  bool operator()(StringId id) {
    if (known_[id] == kUnasked) known_[id] = ask_(strings_[id]) ? kYes : kNo;
    return known_[id] == kYes;
  }

 private:
  enum Answer : std::uint8_t { kUnasked, kYes, kNo };
  const StringPool& strings_;
  Ask ask_;
  std::vector<Answer> known_;
};

}  // namespace stepscope::trace
