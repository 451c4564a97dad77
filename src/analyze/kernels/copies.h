// Which copies ran, for which operator, how fast, and how much of them is exposed.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/kernel_class.h"

namespace stepscope::analyze {

/// Copies in the window with one name, launched by one operator. Times in ns.
struct OperatorCopies {
  std::int64_t rank;
  std::string name;
  derive::CopyDirection direction;
  derive::HostMemory memory;
  std::string op;  ///< the operator above aten::to and its callees; "" for none
  std::int64_t count, bytes, total;
  std::int64_t exposed;  ///< of `total`, while no kernel runs
  std::int64_t host;     ///< duration of the calls that launched the copies
  std::int64_t small;    ///< number of copies below 64 KiB
  std::int64_t created;  ///< number of copies of a tensor that the operator right before created
  std::int64_t large;    ///< number of copies of 8 MB or more
  double large_rate;     ///< median rate of the large copies, bytes/s; report::kNoReal without any
};

struct Copies {
  std::vector<OperatorCopies> copies;  ///< per rank, longest total first
  std::vector<std::string> notes;
};
Copies copies_of(const Derived& derived);

}  // namespace stepscope::analyze
