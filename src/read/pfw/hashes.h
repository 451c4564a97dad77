// Names that DFTracer's events hold as hashes: of files, hosts and other texts.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "read/batch.h"

namespace stepscope::read {

/// Whether values of this arg are hashes.
bool is_hash_key(std::string_view key);

struct HashCounts {
  std::int64_t ambiguous = 0;  ///< hashes that stand for several names
  std::int64_t unknown = 0;    ///< events with the hash of a file that nothing explains
};

/// Puts names in place of hashes in the args of all rows: "fhash" becomes "fname", "hhash" becomes
/// "hostname", others lose their "_hash". A hash means what was last said of it before the event, else what
/// is first said of it later. A hash that nothing explains stays.
HashCounts resolve_hashes(std::vector<Batch>& batches, std::vector<Vocabulary>& words);

}  // namespace stepscope::read
