// The innermost host range of a thread at an instant.
#pragma once

#include "trace/trace.h"

namespace stepscope::derive {

/// The innermost range among `from` and its ancestors that has not ended at `time`; kNoRow if all have ended,
/// or if the walk would be longer than the nesting of any real thread.
trace::Row open_at(const trace::EventTable& events, trace::Row from, std::int64_t time);

/// The innermost host range with start ≤ time < end on `track`, kNoRow if there is none. O(log n) plus the
/// walk over ancestors.
trace::Row innermost_at(const trace::Rank& rank, const trace::Track& track, std::int64_t time);

/// `row` or its nearest ancestor that covers at least half of [begin, end); kNoRow if none does.
trace::Row covers_half(const trace::EventTable& events, trace::Row row, std::int64_t begin, std::int64_t end);

}  // namespace stepscope::derive
