// DFTracer's files (.pfw): an event a line, in any of the three generations of the format, or a mixture.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "read/kineto/kineto.h"

namespace stepscope::read {

/// The number of a process's rank, if its label says "Rank 3"; -1 else.
std::int64_t rank_in_label(std::string_view label);

/// Parses the file's text, which begins with `head`. An Error when no event could be read. Calls that read,
/// write or ask the file system are `Kind::io`, other events are annotations. A record that stands for many
/// calls is an instant with the record's args.
Result<ParsedFile> parse_pfw(const std::string& path, std::string_view head, const Reopen& reopen,
                             const KinetoOptions& options);

/// The same of a document that `stepscope merge` made of such a file.
Result<ParsedFile> parse_pfw_section(const std::string& path, const Reopen& reopen,
                                     const KinetoOptions& options);

/// Whether the rank was read from a DFTracer file.
bool is_of_dftracer(const trace::Rank& rank);

/// Leaves out DFTracer's files beside recordings of ranks, which they are no other ranks of, with a note.
void leave_dftracer(trace::Trace& trace);

}  // namespace stepscope::read
