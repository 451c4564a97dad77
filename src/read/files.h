// Expands the paths that people give into files, and parses one file of any format.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "read/kineto/kineto.h"

namespace stepscope::read {

/// Endings of files that can be read, and of files that can be merged.
inline constexpr std::string_view kReadable[] = {".json",   ".json.gz",   ".json.zst",   ".stepscope",
                                                 ".pickle", ".pickle.gz", ".pickle.zst", ".pkl",
                                                 ".pfw",    ".pfw.gz"};
inline constexpr std::string_view kMergeable[] = {".json", ".json.gz", ".json.zst",
                                                  ".pfw",  ".pfw.gz",  ".stepscope"};

/// The files named; a directory is replaced by the files below it with one of these endings, in path order.
/// Below a directory, a link to another of its files is left out; a dangling link stays, to be reported
/// missing. Pickles there that are no memory snapshots are left out. Recordings of data loader workers are
/// left out too: they are read with that of their process.
Result<std::vector<std::string>> files_of(std::span<const std::string> paths,
                                          std::span<const std::string_view> endings);

/// The first file that is the same as an earlier one, by whatever path; "" when all differ.
std::string given_twice(std::span<const std::string> files);

/// One sentence if writing `output` would overwrite one of these files, or a recording that is read with one
/// of them; else "". `what` these files are: "the trace itself".
std::string overwritten(std::span<const std::string> files, const std::string& output, std::string_view what);

/// An Error when one of these files does not exist or is given twice.
std::optional<Error> misnamed(std::span<const std::string> files);

/// Removes the execution traces from `files` and returns them: they are no rank's recordings.
std::vector<std::string> take_execution_traces(std::vector<std::string>& files);

/// Stored bytes of all files; -1 when a size is unknown ("-").
std::int64_t bytes_of(const std::vector<std::string>& files);
/// Stored bytes of a file, for progress; 0 when unknown.
std::int64_t stored_size(const std::string& path);

/// The contents of one path: one file, or the ranks of a merged file.
struct Parsed {
  std::vector<ParsedFile> files;
  std::vector<std::string> unread;  ///< ranks of a merged file, each with its reason
  std::size_t left_out = 0;         ///< sources of a merged file that are no rank
};

/// The note on sources of merged files that are no rank.
std::string note_left_out(std::size_t sources);

/// Recognises the format by the first bytes and parses the file.
Result<Parsed> parse_file(const std::string& path, const KinetoOptions& options);

}  // namespace stepscope::read
