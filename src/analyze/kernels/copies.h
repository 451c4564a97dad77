// Which copies ran, for whom, how fast, and which of them nothing hid.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/kernel_class.h"

namespace stepscope::analyze {

/// Copies of one name in the window that one operator asked for. Times in ns.
struct OperatorCopies {
  std::int64_t rank;
  std::string name;
  derive::CopyDirection direction;
  derive::HostMemory memory;
  std::string op;  ///< the operator above aten::to and what that calls; "" for none
  std::int64_t count, bytes, total;
  std::int64_t exposed;  ///< of `total`: without a kernel
  std::int64_t host;     ///< in the calls that asked for them
  std::int64_t small;    ///< how many are below 64 KiB
  std::int64_t created;  ///< how many move what the operator right before them made
  std::int64_t large;    ///< how many are of 8 MB and more
  double large_rate;     ///< the median of those, bytes/s; report::kNoReal without any
};

struct Copies {
  std::vector<OperatorCopies> copies;  ///< of each rank, longest total first
  std::vector<std::string> notes;
};
Copies copies_of(const Derived& derived);

}  // namespace stepscope::analyze
