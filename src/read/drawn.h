// What overlays draw into a copy of a recording. It is told by its category and is no part of what was
// recorded: readers count it and leave it out.
#pragma once

#include <string_view>

namespace stepscope::read {

/// Of arrows along the critical path, also of HTA's.
inline constexpr std::string_view kDrawnArrow = "critical_path";
inline constexpr std::string_view kDrawnCounter = "stepscope.counter";
/// Name of the metadata event that ends the list, and key of the head where the copy lacks something: events
/// that are not on the path, or text of the recording that could not be read.
inline constexpr std::string_view kOverlayMark = "stepscope.overlay";

}  // namespace stepscope::read
