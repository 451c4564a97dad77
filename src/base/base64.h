// Bytes as letters, digits, + and / (RFC 4648), with padding.
#pragma once

#include <string>
#include <string_view>

namespace stepscope {

std::string base64(std::string_view bytes);

}  // namespace stepscope
