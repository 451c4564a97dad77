// The External id of a row in either spelling: the key between ops and what they launch.
#pragma once

#include "trace/trace.h"

namespace stepscope::derive {

class ExternalId {
 public:
  ExternalId(const trace::Trace& trace, const trace::Rank& rank)
      : new_(trace, rank, "External id"), old_(trace, rank, "external id") {}
  /// 0 when absent.
  std::int64_t of(trace::Row row) const {
    if (const auto id = new_.integer(row)) return *id;
    return old_.integer_or(row, 0);
  }

 private:
  trace::ArgReader new_, old_;
};

}  // namespace stepscope::derive
