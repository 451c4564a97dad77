// Which leaves of two recordings are the same thing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compare/leaf.h"

namespace stepscope::compare {

/// How a row was found on both sides: each way takes what those before it left.
enum class Way : std::uint8_t {
  none,      ///< on one side only
  exact,     ///< module, op path and name are equal
  variant,   ///< equal but for what names tell of the build, the tiles and the device's generation
  order,     ///< the same place among the sorts of work that an op path launches
  op,        ///< the same op path, all its kernels together
  ancestor,  ///< the same operator or range of the program further up, all its kernels together
  moved,     ///< the same kernel of the same operator, called from elsewhere
  module,    ///< the same module
};
/// "", "same", "same, other build", …: for people.
std::string_view name_of(Way way);
/// Whether two sides do the same in another way.
constexpr bool differs_in_kind(Way way) {
  return way == Way::op || way == Way::ancestor || way == Way::module;
}

/// Leaves of both sides that are compared with each other, by index.
struct Match {
  Way way = Way::none;
  std::vector<std::size_t> a, b;
};

/// Every leaf is in exactly one match. A key that is equal in all its parts names the same thing on any
/// device, so different devices need no rules of their own: they just find more in the later ways.
std::vector<Match> match(std::span<const Leaf> a, std::span<const Leaf> b);

}  // namespace stepscope::compare
