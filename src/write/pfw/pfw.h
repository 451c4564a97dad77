// A trace as DFTracer's file (.pfw): its file I/O, its ranges, and the operators as one layer of compute.
//
// The form is that of generation 1 (DFTracer 1.x): a "[" line, an object a line, phases X and M, µs since
// 1970, FH and HH lines that say which hash is which file and host. Generation 1 is what all analysers
// read: those of 1.x know no numbered phases (generation 2), and those since 2025 no names in place of hashes
// (generation 0). Hashes are strings of decimal digits below 2^32: dftracer-utils reads strings only, 1.0.15
// hexadecimal digits, and versions before it cast digits to their columns of integers, of 32 bits for files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/trace.h"

namespace stepscope::write {

struct PfwWritten {
  std::int64_t calls = 0;          ///< of the file system
  std::int64_t ranges = 0;         ///< that the program marked
  std::int64_t operators = 0;      ///< those that no other operator calls
  std::vector<std::string> notes;  ///< sentences: what the file cannot hold
};

/// `path` "" or "-": standard output; compressed if it ends in .gz. An Error also if the trace holds nothing
/// that the file could.
Result<PfwWritten> export_pfw(const trace::Trace& trace, const std::string& path);

}  // namespace stepscope::write
