// torch.profiler's Chrome-trace JSON (Kineto), all dialects, and other tools' Chrome traces.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/byte_source.h"
#include "base/result.h"
#include "read/batch.h"
#include "read/blocks.h"

namespace stepscope::read {

struct KinetoOptions {
  unsigned threads = 1;
  BlockSizes blocks;
  bool drawn = false;  ///< also keep events that an overlay drew
  bool wide = false;   ///< integers of args may be replaced by larger ones
  std::function<void(std::int64_t stored_bytes)> progress;  ///< may be empty
};

/// Opens the file again for a second pass, needed only when a parallel pass guessed an event boundary
/// wrongly.
using Reopen = std::function<Result<std::unique_ptr<ByteSource>>()>;

/// Parses the file's text. An Error when no event could be read. seal() makes it part of a Trace.
Result<ParsedFile> parse_kineto(const std::string& path, const Reopen& reopen, const KinetoOptions& options);

}  // namespace stepscope::read
