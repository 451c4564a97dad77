// The top-level keys beside the events: devices, distributed information, time base.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace stepscope::read {

/// Fills rank.devices, rank, world_size, backend, base_ns and what a copy lacks from (key, JSON text) pairs,
/// and keeps all of them as rank.metadata.
void read_head(trace::Rank& rank, std::vector<std::pair<std::string, std::string>> top_level);

}  // namespace stepscope::read
