// What an overlay draws, as text of an event list.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "merge/event_text.h"
#include "report/drawing.h"

namespace stepscope::merge {

/// Appends an event of the critical path with the arg `critical` set; an old value is replaced.
void append_critical(const EventText& event, std::string& out);

/// Gives arrows and counters to `put` in pieces, each on its own line with a comma behind it.
void drawn_events(const report::Drawing& drawing, const std::function<void(std::string_view)>& put);

/// The last line of an overlaid file's event list.
std::string overlay_mark(const report::Drawing& drawing);

}  // namespace stepscope::merge
