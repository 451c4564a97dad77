// The timeline: lanes, tiles, names, search, one event, an area.
#pragma once

#include <span>

#include "serve/asked.h"

namespace stepscope::serve {

std::span<const RunRoute> timeline_routes();

}  // namespace stepscope::serve
