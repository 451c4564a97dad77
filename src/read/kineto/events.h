// Reads all events of a file, in one pass of several threads or in one of a single thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "read/kineto/document.h"
#include "read/kineto/event.h"
#include "read/kineto/kineto.h"

namespace stepscope::read {

struct EventFormat {
  std::string_view name;      ///< of Reading::format
  std::string_view expected;  ///< in an error: "a trace written by …"
};

struct ParsedEvents {
  ParsedFile file;  ///< its rank has a path and a Reading
  TopLevel top_level;
};

/// An Error when no event could be read.
Result<ParsedEvents> parse_events(const std::string& path, const Reopen& reopen, const KinetoOptions& options,
                                  const EventRules& rules, const EventFormat& format);

}  // namespace stepscope::read
