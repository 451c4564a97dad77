// Python's pickles, as data: nothing that a file says is ever called, and opcodes that could are refused.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/byte_source.h"
#include "base/result.h"
#include "read/snapshot/machine.h"

namespace stepscope::read {

/// How a file was read to its end.
struct DocumentEnd {
  std::int64_t bytes = 0;   ///< uncompressed bytes read
  bool whole = true;        ///< false: it was cut off
  std::string behind = {};  ///< a sentence about what follows the end; "" if nothing does
};

/// Called with the stored bytes read, now and then.
using StoredBytes = std::function<void(std::int64_t)>;

/// Reads a pickle onto the machine, whose root() is then its value. An Error for what is no snapshot's, with
/// the opcode and its place.
Result<DocumentEnd> read_pickle(ByteSource& source, Machine& machine, const StoredBytes& progress = {});

}  // namespace stepscope::read
