#include "derive/captured_ops.h"

namespace stepscope::derive {

using trace::Kind;
using trace::kNoRow;
using trace::Row;

CapturedOps::CapturedOps(const trace::Trace& trace, const trace::Rank& rank)
    : rank_(rank), maker_(trace, rank, "captured by id") {
  bool any = false;
  for (const Row row : rank.device_rows()) any = any || maker_.has(row);
  if (!any) return;
  const trace::ArgReader external(trace, rank, "External id");
  for (const Row row : rank.host_rows())
    if (rank.events.kind[row] == Kind::op) ops_.add(external.integer_or(row, 0), row);
  ops_.build();
}

Row CapturedOps::of(Row row) const { return ops_.find(maker_.integer_or(row, 0)); }

}  // namespace stepscope::derive
