// Which leaves of two recordings are the same thing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compare/leaf.h"

namespace stepscope::compare {

/// How leaves of both sides were matched. Each way takes what the previous ways left.
enum class Way : std::uint8_t {
  none,      ///< on one side only
  exact,     ///< module, op path and name are equal
  variant,   ///< equal but for parts of the name that depend on build, tiles or device generation
  order,     ///< the same op path, aligned by kind of work in the order in which they begin
  op,        ///< the same op path, all its kernels together
  ancestor,  ///< the same operator or range further up, all kernels below it together
  moved,     ///< the same kernel of the same operator, called from elsewhere
  module,    ///< the same module
};
/// "", "same", "same, other build", …: for people.
std::string_view name_of(Way way);
/// Whether the sides do the same work with different kernels.
constexpr bool differs_in_kind(Way way) {
  return way == Way::op || way == Way::ancestor || way == Way::module;
}

/// Leaves of both sides that are compared with each other, by index.
struct Match {
  Way way = Way::none;
  std::vector<std::size_t> a, b;
};

/// Every leaf is in exactly one match. Equal keys name the same thing on any device, so different devices
/// need no rules of their own: they match more in the later ways.
std::vector<Match> match(std::span<const Leaf> a, std::span<const Leaf> b);

}  // namespace stepscope::compare
