// SHA-256 (FIPS 180-4): names a script or a style in a Content-Security-Policy.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace stepscope {

std::array<std::uint8_t, 32> sha256(std::string_view bytes);

}  // namespace stepscope
