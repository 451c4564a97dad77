// Who may ask. Recordings are untrusted, and so is every other page in the browser and every other user.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "serve/address.h"
#include "serve/request.h"

namespace stepscope::serve {

struct Policy {
  std::vector<std::string> hosts;  ///< values of Host that are answered, in lower case
  std::string token;               ///< "": everybody who reaches the port may ask
  std::string base = "/";          ///< begins and ends with a slash
  bool is_framed = false;          ///< pages of the same origin may show this one in a frame
};

/// The names of this server: of the loopback at `port`, of `bind` if it names one address, and `allowed`,
/// with the port if they have none.
std::vector<std::string> host_names(std::uint16_t port, std::string_view bind,
                                    const std::vector<std::string>& allowed);

/// "path/" becomes "/path/".
std::string base_path(std::string_view given);

/// 128 random bits in hex.
std::string new_token();

/// The address below the base path. Throws a Refusal if the request may not be answered.
Address admitted(const Policy& policy, const Request& request);

}  // namespace stepscope::serve
