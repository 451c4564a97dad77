// Launch ↔ device event by correlation; device event and runtime call → innermost op by nesting, else by
// External id.
#include "derive/external_id.h"
#include "derive/id_index.h"
#include "derive/stages.h"

namespace stepscope::derive {

using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Row;

namespace {

void link_launches(EventTable& e, const trace::ArgReader& correlation) {
  IdIndex launches;
  for (Row row = 0; row < e.size(); ++row)
    if (e.kind[row] == Kind::runtime)
      if (const auto id = correlation.integer(row)) launches.add(*id, row);
  launches.build();
  for (Row row = 0; row < e.size(); ++row)
    if (is_device_row(e.kind[row]))
      if (const auto id = correlation.integer(row)) e.launch[row] = launches.find(*id);
}

/// The innermost op above each row. A parent comes before its children, so one pass does, however deep they
/// nest.
std::vector<Row> ops_above(const EventTable& e) {
  std::vector<Row> above(e.size(), kNoRow);
  for (Row row = 0; row < e.size(); ++row) {
    const Row parent = e.parent[row];
    if (parent != kNoRow) above[row] = e.kind[parent] == Kind::op ? parent : above[parent];
  }
  return above;
}

/// Runtime calls first: device rows take the op of their launch.
void link_ops(EventTable& e, const IdIndex& ops, const ExternalId& external) {
  const std::vector<Row> above = ops_above(e);
  for (Row row = 0; row < e.size(); ++row) {
    if (e.kind[row] != Kind::runtime) continue;
    e.op[row] = above[row];
    if (e.op[row] == kNoRow) e.op[row] = ops.find(external.of(row));
  }
  for (Row row = 0; row < e.size(); ++row) {
    if (!is_device_work(e.kind[row])) continue;
    if (e.launch[row] != kNoRow) e.op[row] = e.op[e.launch[row]];
    if (e.op[row] == kNoRow) e.op[row] = ops.find(external.of(row));
  }
}

}  // namespace

void fill_links(const trace::Trace& trace, trace::Rank& rank) {
  EventTable& e = rank.events;
  e.launch.assign(e.size(), kNoRow);
  e.op.assign(e.size(), kNoRow);
  const ExternalId external(trace, rank);
  IdIndex ops;
  for (Row row = 0; row < e.size(); ++row)
    if (e.kind[row] == Kind::op) ops.add(external.of(row), row);
  ops.build();
  link_launches(e, trace::ArgReader(trace, rank, "correlation"));
  link_ops(e, ops, external);
}

}  // namespace stepscope::derive
