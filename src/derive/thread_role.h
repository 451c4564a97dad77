// The role of each thread of a rank.
#pragma once

#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

enum class ThreadRole : std::uint8_t {
  main,      ///< has the step marks; without marks, the non-backward thread with the most recorded time
  backward,  ///< runs autograd's functions and is not the main thread
  other,
  none,  ///< not a host thread, or has no host ranges
};
inline constexpr std::size_t kThreadRoles = 3;

/// "main thread", "backward thread", "other threads".
std::string_view name_of(ThreadRole role);

/// Roles by track. O(n).
std::vector<ThreadRole> thread_roles(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::derive
