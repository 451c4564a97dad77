// What was allocated and freed between two instants of a memory snapshot, by place.
#pragma once

#include <string>
#include <vector>

#include "analyze/memory/memory_instants.h"

namespace stepscope::analyze {

struct NamedInstant : MemoryInstant {
  std::string_view name;  ///< "from" or "to"
};

/// Allocations of one place. Bytes.
struct PlaceChange {
  std::int64_t rank, device;
  std::string place;
  std::int64_t from, to;            ///< alive at each instant
  std::int64_t kept, kept_count;    ///< allocated between the instants, and alive at the second
  std::int64_t freed, freed_count;  ///< alive at the first instant, and freed before the second
  std::int64_t allocated;           ///< between the instants
  std::int64_t change() const { return to - from; }
};

struct MemoryDifference {
  std::vector<NamedInstant> instants;
  std::vector<PlaceChange> places;  ///< by device, largest change first
  std::vector<std::string> notes;
};

/// `from`, `to`: an event's number, "peak", "start" or "end".
MemoryDifference memory_difference_of(const Derived& derived, std::string_view from = "start",
                                      std::string_view to = "peak", HeldBy by = HeldBy::line);

}  // namespace stepscope::analyze
