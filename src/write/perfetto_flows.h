// The arrows of a rank as Perfetto's flows.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "trace/trace.h"

namespace stepscope::write {

/// One end of an arrow: a slice, and a number that no other arrow has.
struct FlowEnd {
  trace::Row row;
  std::uint64_t id;
  bool last;  ///< of the two slices, the one that Perfetto reads later
};

struct Flows {
  std::vector<FlowEnd> ends;  ///< two per arrow, by row
  std::int64_t loose = 0;     ///< ends outside any slice: left out
};

/// Arrows are numbered from `first` on. `time` converts a row's time to the written one.
Flows flows_of(const trace::Rank& rank, std::uint64_t first,
               const std::function<std::int64_t(std::int64_t)>& time);

}  // namespace stepscope::write
