// Reads of a group of files whose place is recorded: which bytes were read again.
#pragma once

#include <cstdint>
#include <map>

#include "derive/io/io_calls.h"
#include "report/statistics.h"
#include "timeline/interval.h"

namespace stepscope::analyze {

class PlacedReads {
 public:
  /// Other calls, and reads without an offset, are left out.
  void add(const derive::IoCall& call) {
    std::int64_t end = 0;
    if (call.kind != derive::IoKind::read || call.offset < 0 || call.bytes <= 0 ||
        __builtin_add_overflow(call.offset, call.bytes, &end))
      return;
    report::add_to(bytes_, call.bytes);
    files_[call.file].push_back({call.offset, end});
  }

  bool empty() const { return files_.empty(); }
  std::int64_t files() const { return std::ssize(files_); }
  std::int64_t bytes() const { return bytes_; }
  /// Bytes, each once.
  std::int64_t distinct() const {
    std::int64_t bytes = 0;
    for (const auto& [file, places] : files_)
      report::add_to(bytes, timeline::IntervalSet::of(Column<timeline::Interval>(places)).length());
    return bytes;
  }

 private:
  std::int64_t bytes_ = 0;
  std::map<trace::StringId, Column<timeline::Interval>> files_;  ///< bytes of a file, not times
};

}  // namespace stepscope::analyze
