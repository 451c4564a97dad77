#include "trace/snapshot.h"

namespace stepscope::trace {

std::string_view name_of(MemoryAction action) {
  constexpr std::string_view kNames[kMemoryActions] = {
      "alloc",        "free_requested", "free_completed", "segment_alloc",
      "segment_free", "segment_map",    "segment_unmap",  "oom",
      "snapshot",     "annotate",       "user_defined",   "other"};
  return kNames[static_cast<std::size_t>(action)];
}

}  // namespace stepscope::trace
