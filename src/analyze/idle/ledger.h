// The owner of each nanosecond of each device, and what bounds each rank.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "analyze/idle/bound_numbers.h"
#include "derive/idle/ledger.h"

namespace stepscope::analyze {

/// Time of a device's window with one owner; idle time is split by cause.
struct OwnedTime {
  std::int64_t rank, device;
  derive::Owner owner;
  derive::IdleCause cause;  ///< only for Owner::idle
  std::int64_t time;        ///< ns
  std::int64_t per_step;    ///< ns
  double share;             ///< of the window
};

/// What bounds one rank. Without device work there are no numbers, and the limit is unknown.
struct RankLimit {
  std::int64_t rank = -1;
  bool has_device = false;
  BoundNumbers numbers;
  BoundWord word;
};

struct Ledger {
  std::vector<RankLimit> ranks;
  std::vector<OwnedTime> owned;
  std::vector<std::string> notes;
};
Ledger ledger_of(const Derived& derived);

}  // namespace stepscope::analyze
