// Kineto's names for CUPTI's numbers.
#pragma once

#include <string>
#include <string_view>

#include "record/device/format.h"

namespace stepscope::record {

std::string copy_name(const Memcpy& copy);
std::string fill_name(const Memset& fill);
std::string_view wait_name(std::uint32_t kind);
std::string_view overhead_name(std::uint32_t kind);
/// A kernel's name as in its source; `name` itself if it is not mangled.
std::string demangled(std::string_view name);

}  // namespace stepscope::record
