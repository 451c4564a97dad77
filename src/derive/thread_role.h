// The role of each thread of a rank.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

enum class ThreadRole : std::uint8_t {
  main,      ///< has the step marks; without marks, the thread with most time in ops and ranges outside
             ///< autograd's functions, or in Python calls if no thread has any, or in calls that read and
             ///< write files if that is all; no track of samples
  backward,  ///< runs autograd's functions and is not the main thread
  other,
  none,  ///< not a host thread, or has no host ranges
};
inline constexpr std::size_t kThreadRoles = 3;

/// "main thread", "backward thread", "other threads".
std::string_view name_of(ThreadRole role);

/// True for a thread of a data loader's worker process, by the names of its process and thread.
bool is_loader_thread(const trace::Track& track);

/// By track: whether it holds Python calls made of samples. Such a track stands beside the track of its
/// thread.
std::vector<bool> sampled_tracks(const trace::Trace& trace, const trace::Rank& rank);

/// The track with samples of a thread; nullopt without samples.
std::optional<trace::TrackId> samples_of(const trace::Trace& trace, const trace::Rank& rank,
                                         trace::TrackId thread);

/// Roles by track. O(n).
std::vector<ThreadRole> thread_roles(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::derive
