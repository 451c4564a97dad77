// torch.profiler's exported memory time line: a list of changes (.raw.json) or of times and sums (.json).
#pragma once

#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/result.h"
#include "read/batch.h"

namespace stepscope::read {

/// Whether a file that begins with `head` is a list of lists of numbers, which no other format is.
bool is_memory_timeline(std::string_view head);

/// Reads [[t_ns, action, bytes, category], …] or [[t_us, …], [[0, bytes of each category…], …]]. At damage,
/// or where the file ends early, reading ends and what was read is kept. An Error if that is nothing.
Result<ParsedFile> parse_memory_timeline(const std::string& path, ByteSource& source);

/// Gives a time line to the one rank that was opened with it, as a companion; alone it stays a rank.
void attach_memory_timelines(trace::Trace& trace);

}  // namespace stepscope::read
