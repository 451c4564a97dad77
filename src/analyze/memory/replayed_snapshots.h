// The replays of the snapshots' devices, and what must be said of each recording before its numbers.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/allocator/allocator_replay.h"
#include "derive/allocator/stack_places.h"

namespace stepscope::analyze {

/// One replay per device of the rank's snapshot; none without a snapshot.
const std::vector<derive::AllocatorReplay>& replays_of(const Derived& derived, const trace::Rank& rank);

/// What to record, if no rank has a snapshot.
extern const char* const kNoSnapshotNote;
/// The place of an allocation that has no stack, though it is among the events.
inline constexpr std::string_view kNoStackRecorded = "no stack recorded";

/// What a snapshot lacks, or where it contradicts itself.
struct CaptureFault {
  enum class Kind : std::uint8_t {
    no_events,  ///< history was off: only the final state is there
    dropped,    ///< events before the first one kept
    no_stacks,  ///< no allocation says where it was made
    wrong,      ///< events are missing, the file is cut or contradicts itself: levels may be wrong
    told,       ///< what to know about it; no number is wrong
  };
  std::int64_t rank;
  Kind kind;
  std::string what, remedy;  ///< sentences; the remedy may be ""
};
/// Of a rank with a snapshot.
const std::vector<CaptureFault>& capture_faults(const Derived& derived, const trace::Rank& rank);
/// The same as a note.
std::string note_of(const CaptureFault& fault);

/// The same without the events: what is wrong with the final state.
std::vector<std::string> state_health(const trace::Trace& trace, const trace::Rank& rank);

/// Calls `tell(rank, index of the device in its snapshot)` for each device. Adds to `notes` how complete the
/// snapshots are, or what to record if there is none.
template <class Tell>
void for_each_replay(const Derived& derived, std::vector<std::string>& notes, Tell tell) {
  bool any = false;
  for (const trace::Rank& rank : derived.trace().ranks) {
    if (rank.snapshot == nullptr) continue;
    any = true;
    for (const CaptureFault& fault : capture_faults(derived, rank)) notes.push_back(note_of(fault));
    for (std::size_t device = 0; device < replays_of(derived, rank).size(); ++device) tell(rank, device);
  }
  if (!any) notes.emplace_back(kNoSnapshotNote);
}

}  // namespace stepscope::analyze
