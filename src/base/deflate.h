// Raw deflate (RFC 1951), compressed well: for files that are sent.
#pragma once

#include <string>
#include <string_view>

namespace stepscope {

/// Less than 4 GiB.
std::string deflated(std::string_view bytes);

}  // namespace stepscope
