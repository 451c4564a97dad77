// The lanes, counters and steps of a run as JSON, and its names.
#pragma once

#include <cstdint>
#include <string>

#include "lanes/run.h"

namespace stepscope::lanes {

inline constexpr std::uint32_t kNamesOfBlock = 4'096;

std::string summary_json(const Run& run);
/// The names from `block` * kNamesOfBlock on, which must exist.
std::string names_json(const Run& run, std::uint32_t block);

}  // namespace stepscope::lanes
