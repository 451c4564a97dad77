// Who owned each nanosecond of each device, and who waited for whom.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "analyze/idle/bound_numbers.h"
#include "derive/idle/ledger.h"

namespace stepscope::analyze {

/// What one owner had of a device's window; idle time by its cause.
struct OwnedTime {
  std::int64_t rank, device;
  derive::Owner owner;
  derive::IdleCause cause;  ///< of Owner::idle
  std::int64_t time;        ///< ns
  std::int64_t per_step;    ///< ns
  double share;             ///< of the window
};

/// Of one rank. Without device work there are no numbers, and the limit is unknown.
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
