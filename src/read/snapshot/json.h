// The JSON form of a snapshot: the same dict, written by json.dump.
#pragma once

#include "read/snapshot/pickle.h"

namespace stepscope::read {

/// Reads a JSON document onto the machine, whose root() is then its value.
Result<DocumentEnd> read_json(ByteSource& source, Machine& machine, const StoredBytes& progress = {});

}  // namespace stepscope::read
