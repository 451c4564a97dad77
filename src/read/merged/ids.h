// Ids in events that merging shifts, so that two sources never share one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stepscope::read {

/// Ids that are valid only within their source. Readers compare ids of one space, never of two.
enum class IdSpace : std::uint8_t {
  link,    ///< correlation, External id, flows: recorders use the same numbers for all three
  index,   ///< Ev Idx
  python,  ///< Python id, Python parent id
  graph,   ///< ids of graphs and their nodes
};
inline constexpr std::size_t kIdSpaces = 4;
/// The space of the ids in an arg, by its key; nothing if its values are no ids.
std::optional<IdSpace> id_space_of(std::string_view key);

/// The values that recorders write for "no id". Merging does not shift them.
inline bool is_no_id(std::int64_t id) { return id == 0 || id == -1 || id == 0xFFFFFFFF; }

}  // namespace stepscope::read
