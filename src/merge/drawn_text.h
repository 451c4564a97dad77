// What is drawn into a file, as text of its event list.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "merge/event_text.h"
#include "report/drawing.h"

namespace stepscope::merge {

/// Of an event on the critical path: itself with the arg `critical`, in place of one that it has.
void append_critical(const EventText& event, std::string& out);

/// Arrows and counters, each on a line of its own and with a comma behind it, piece after piece.
void drawn_events(const report::Drawing& drawing, const std::function<void(std::string_view)>& put);

/// The line that the event list of an overlaid file ends with.
std::string overlay_mark(const report::Drawing& drawing);

}  // namespace stepscope::merge
