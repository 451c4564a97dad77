// Why each device was idle, gap by gap.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "analyze/idle/idle_places.h"
#include "derive/idle/idle_cause.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// Idle time of one device by one cause. Times in ns of the window.
struct IdleByCause {
  std::int64_t rank, device;
  derive::IdleCause cause;
  std::int64_t pieces, time;
  std::int64_t per_step;  ///< time ÷ complete steps; report::kNoInt without steps
  double share;           ///< time ÷ window
};

/// Idle time of one rank, means over its devices, ns.
struct IdleTotals {
  std::int64_t rank = -1;
  std::int64_t late = 0;          ///< all causes but pending
  std::int64_t pending = 0;       ///< launched but not started
  std::int64_t pending_long = 0;  ///< of `pending`, parts of ≥ 0.5 ms after the launch call returned
};

/// One of the longest pieces. Times in ns; `start` counts from the first event of the file.
struct IdleGap {
  std::int64_t rank, device, start, length;
  derive::IdleCause cause;
  std::string step, ended_by, thread, region, op;
};

struct Idle {
  std::vector<IdleByCause> causes;
  std::vector<IdleTotals> totals;  ///< of ranks with a device
  std::vector<IdleGap> gaps;
  std::vector<HostPlace> places;
  std::vector<std::string> notes;
};
Idle idle_of(const Derived& derived);

extern const report::FactSheet<IdleTotals> kIdleTotals;

}  // namespace stepscope::analyze
