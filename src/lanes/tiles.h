// Tiles of lanes and of counters, in the binary form of docs/serve.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "lanes/boxes.h"
#include "lanes/run.h"

namespace stepscope::lanes {

Result<std::string> lane_tiles(const Run& run, const Tile& tile, std::span<const std::uint32_t> lanes);
std::string counter_tiles(const Run& run, const Tile& tile, std::span<const std::uint32_t> counters);

}  // namespace stepscope::lanes
