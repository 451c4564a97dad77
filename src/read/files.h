// Which files the paths that people give stand for, and one of them parsed, whatever its format.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "read/kineto.h"

namespace stepscope::read {

/// Files named by the arguments, directories replaced by the trace files below them, in path order.
Result<std::vector<std::string>> files_of(std::span<const std::string> paths);

/// Of all files as stored, -1 when one does not say ("-").
std::int64_t bytes_of(const std::vector<std::string>& files);

/// Tells formats apart by their first bytes and parses the file.
Result<ParsedFile> parse_file(const std::string& path, const KinetoOptions& options);

}  // namespace stepscope::read
