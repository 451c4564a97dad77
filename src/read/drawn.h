// Marks of what overlays draw into a copy of a recording. Drawn events have categories of their own; they
// were not recorded, so readers count them and leave them out.
#pragma once

#include <string_view>

namespace stepscope::read {

/// Category of arrows along the critical path, HTA's too.
inline constexpr std::string_view kDrawnArrow = "critical_path";
inline constexpr std::string_view kDrawnCounter = "stepscope.counter";
/// Name of the metadata event that ends the list. Also the head's key for what the copy lacks, if anything:
/// events off the critical path, or text of the recording that could not be read.
inline constexpr std::string_view kOverlayMark = "stepscope.overlay";

}  // namespace stepscope::read
