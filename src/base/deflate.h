// Deflate (RFC 1951) by zlib.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stepscope {

enum class Wrap : std::uint8_t { none, gzip };

/// `bytes`: less than 4 GiB. `level`: 1, fast, to 9, small.
std::string deflated(std::string_view bytes, int level = 9, Wrap wrap = Wrap::none);

}  // namespace stepscope
