// What the threads of a rank are for.
#pragma once

#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

enum class ThreadRole : std::uint8_t {
  main,  ///< has the step marks; without any, the one with most recorded time that is not a backward thread
  backward,  ///< runs autograd's functions and is not the main thread
  other,
  none,  ///< not a host thread, or without host ranges
};
inline constexpr std::size_t kThreadRoles = 3;

/// "main thread", "backward thread", "other threads".
std::string_view name_of(ThreadRole role);

/// By track. O(n).
std::vector<ThreadRole> thread_roles(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::derive
