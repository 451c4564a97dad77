// Begin and end events (ph B, E) become rows.
#pragma once

#include <vector>

#include "read/batch.h"

namespace stepscope::read {

/// Pairs the begin and end events of each track by time and appends them as rows of the last batch. An end
/// closes the innermost open begin of its name, or else the innermost. At one instant ends come before
/// begins, except those that only a begin of this instant can be the partner of. Their order in the file
/// changes nothing.
void pair_halves(const trace::Trace& trace, trace::Rank& rank, std::vector<Batch>& batches);

}  // namespace stepscope::read
