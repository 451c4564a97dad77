// How people name an instant of a memory snapshot, and how its pools and streams are printed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "derive/allocator/allocator_replay.h"

namespace stepscope::analyze {

/// The event that "peak", "start", "end", "oom" (just before the last allocation that failed), a number or ""
/// (oom, or peak if none failed) names; nothing if it names none of this device.
std::optional<std::int64_t> event_of(const derive::AllocatorReplay& replay, std::string_view at);
/// The sentence for an instant that the device does not have.
std::string no_such_event(const derive::AllocatorReplay& replay, std::string_view at);
/// ns from the device's first event to `event`; report::kNoInt if the file has no times.
std::int64_t time_of(const derive::AllocatorReplay& replay, std::int64_t event);

/// "default", or "(1, 0)".
std::string pool_name(const trace::Snapshot& snapshot, std::uint16_t pool);
/// 0 is the default stream, the others count from 1 in the order of the file.
std::int64_t stream_number(const trace::Snapshot& snapshot, std::uint16_t stream);

}  // namespace stepscope::analyze
