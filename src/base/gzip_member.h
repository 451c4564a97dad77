// Text to gzip, one member at a time: members are independent, so threads make them and files are joined by
// writing one behind the other.
#pragma once

#include <string>
#include <string_view>

namespace stepscope {

/// `text` as one complete gzip member, compressed for speed. Less than 4 GiB.
std::string gzip_member(std::string_view text);

}  // namespace stepscope
