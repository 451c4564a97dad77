#include "serve/fingerprint.h"

#include <fmt/format.h>

#include "base/hash.h"

namespace stepscope::serve {

std::string fingerprint(std::string_view text) {
  constexpr HashSeed kFixed = {0x9E3779B97F4A7C15, 0xD1B54A32D192ED03};
  return fmt::format("{:016x}", hash_of(text, kFixed));
}

}  // namespace stepscope::serve
