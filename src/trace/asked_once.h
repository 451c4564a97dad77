// A function of texts, cached per text.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "trace/string_pool.h"

namespace stepscope::trace {

/// Calls `Ask` with a text when its id is first used; later uses cost one load. The pool must not grow while
/// this object lives.
template <class Ask>
class AskedOnce {
 public:
  using Answer = std::invoke_result_t<Ask&, std::string_view>;

  AskedOnce(const StringPool& strings, Ask ask)
      : strings_(strings), ask_(std::move(ask)), known_(strings.size()) {}

  Answer operator()(StringId id) {
    std::optional<Answer>& known = known_[id];
    if (!known) known = ask_(strings_[id]);
    return *known;
  }

 private:
  const StringPool& strings_;
  Ask ask_;
  std::vector<std::optional<Answer>> known_;
};

}  // namespace stepscope::trace
