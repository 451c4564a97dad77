// Turns recordings of stepscope's own, and other tools' lists of calls, into the text that the Kineto reader
// takes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/byte_source.h"

namespace stepscope::read {

/// Reads all of `recording` (at most 8 GiB) and returns its text piece by piece, with the recordings of data
/// loader workers that lie beside it at `path`. Parts that are cut off or unreadable are among the faults.
Result<std::unique_ptr<ByteSource>> recording_text(std::unique_ptr<ByteSource> recording,
                                                   const std::string& path);

/// Whether the file lists calls of processes, as strace and Darshan do.
bool lists_calls(std::string_view head);

/// The text of a file that begins with `head`: of a recording or a list of calls, as Kineto's JSON; of any
/// other file, as it is.
Result<std::unique_ptr<ByteSource>> as_text(std::unique_ptr<ByteSource> file, std::string_view head,
                                            const std::string& path);
/// The same of the file at `path`.
Result<std::unique_ptr<ByteSource>> open_as_text(const std::string& path);

}  // namespace stepscope::read
