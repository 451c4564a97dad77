// Long stretches in which a device did nothing because its next event had not been launched.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/idle/idle_cause.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// One stretch. Times in ns; `start` counts from the first event of the file.
struct HostBoundStretch {
  std::int64_t rank, device, start, length;
  std::int64_t step;        ///< step of the event that ended it; report::kNoInt outside all steps
  derive::IdleCause cause;  ///< cause with the largest part of it
  std::string host;         ///< the innermost host range that covers half of it; "" for none
  std::string op, thread;   ///< of `host`: its operator, its thread
  std::string next;         ///< name of the event that ended it
};
extern const report::Sheet<HostBoundStretch> kStretchSheet;

/// Adds a rank's stretches of 1 ms and more, longest first.
void add_stretches(std::vector<HostBoundStretch>& found, const Derived& derived, const trace::Rank& rank);

}  // namespace stepscope::analyze
