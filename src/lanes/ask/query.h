// What a search asks for: "gemm kind:kernel rank:3 dur>1ms".
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/event_table.h"

namespace stepscope::lanes {

inline constexpr std::uint32_t kAnyKind = ~std::uint32_t{0};

/// All of these must hold.
struct Wanted {
  std::string part;                ///< in lower case: the name contains it, of any case
  std::uint32_t kinds = kAnyKind;  ///< bit 1 << Kind of each that may be
  std::optional<std::int64_t> rank;
  std::int64_t longer_than = -1;  ///< ns
  std::int64_t shorter_than = std::numeric_limits<std::int64_t>::max();

  bool wants(trace::Kind kind) const { return (kinds >> static_cast<int>(kind) & 1) != 0; }
};

/// Words that begin with "kind:", "rank:", "dur>" or "dur<" restrict; the others are the part. An Error names
/// a word that makes no sense.
Result<Wanted> wanted_by(std::string_view query);

/// ASCII letters in lower case.
std::string lower(std::string_view text);

}  // namespace stepscope::lanes
