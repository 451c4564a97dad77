// Undoes what merging changed in the events of a source.
#pragma once

#include "read/batch.h"
#include "read/merged/source.h"

namespace stepscope::read {

/// Restores the ids and names that processes, threads and events had in their source, and the source's zero
/// of times. Aligned clocks stay aligned.
void restore_source(ParsedFile& file, const MergedSource& source, std::int64_t merged_base_ns);

}  // namespace stepscope::read
