// Which files the paths that people give stand for, and one of them parsed, whatever its format.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "read/kineto/kineto.h"

namespace stepscope::read {

/// What files that are read alone end in, and what those end in that can be merged.
inline constexpr std::string_view kReadable[] = {".json", ".json.gz", ".stepscope"};
inline constexpr std::string_view kMergeable[] = {".json", ".json.gz", ".pfw", ".pfw.gz", ".stepscope"};

/// The files named, directories replaced by the files below them with one of these endings, in path order. A
/// link below a directory to another of its files is left out; one that leads to nothing stays, to be missed.
/// So is a recording of a data loader's worker: it is read with that of its process.
Result<std::vector<std::string>> files_of(std::span<const std::string> paths,
                                          std::span<const std::string_view> endings);

/// The first of these that is the file of another before it, by whatever path; "" when all differ.
std::string given_twice(std::span<const std::string> files);

/// Why these cannot all be read as recordings of their own: one is not there, or is given twice.
std::optional<Error> misnamed(std::span<const std::string> files);

/// Takes the execution traces out of `files` and returns them: they are no rank's recordings.
std::vector<std::string> take_execution_traces(std::vector<std::string>& files);

/// Of all files as stored, -1 when one does not say ("-").
std::int64_t bytes_of(const std::vector<std::string>& files);

/// What one path holds: one file, or the ranks of a merged one.
struct Parsed {
  std::vector<ParsedFile> files;
  std::vector<std::string> unread;  ///< ranks of a merged file, each with its reason
  std::size_t left_out = 0;         ///< sources of a merged file that are no rank
};

/// Of sources of merged files that are no rank.
std::string note_left_out(std::size_t sources);

/// Tells formats apart by their first bytes and parses the file.
Result<Parsed> parse_file(const std::string& path, const KinetoOptions& options);

}  // namespace stepscope::read
