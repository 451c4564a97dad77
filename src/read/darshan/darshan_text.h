// What Darshan's parsers print, as Kineto's JSON. `darshan-dxt-parser`: each read or write becomes an event
// of the category "posix_call" of its rank's process. `darshan-parser` prints sums and no calls, which is an
// Error.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/result.h"

namespace stepscope::read {

/// Whether the text begins like that of one of Darshan's parsers.
bool is_darshan(std::string_view head);

/// The JSON of the calls, line by line. A damaged line is a fault. Counters beside the calls are left out,
/// with a note. An Error with the remedy if the text has no call.
Result<std::unique_ptr<ByteSource>> darshan_text(std::unique_ptr<ByteSource> file, const std::string& path);

}  // namespace stepscope::read
