// The I/O calls of a recording, written as Kineto's JSON: events of the category "posix_call".
#pragma once

#include <string>
#include <unordered_map>

#include "record/recording.h"
#include "record/text/event_text.h"

namespace stepscope::record {

class IoText {
 public:
  /// Scans the recording, which must outlive this object.
  explicit IoText(const Recording& recording);

  /// Writes the calls that are entirely between these times; returns how many.
  std::int64_t events(EventText& text, std::int64_t begin_ns, std::int64_t end_ns) const;

 private:
  const Recording& recording_;
  std::unordered_map<std::uint32_t, std::string> files_;  // as JSON, by number
};

}  // namespace stepscope::record
