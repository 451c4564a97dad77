// Links device events to launches by correlation, and device events and runtime calls to their innermost op
// by nesting, else by External id.
#include "derive/id_index.h"
#include "derive/stages.h"
#include "trace/trace.h"

namespace stepscope::derive {

using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Row;

namespace {

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

/// The innermost op above each row. Parents precede their children, so one pass is enough at any depth.
Column<Row> ops_above(const trace::Rank& rank) {
  const EventTable& e = rank.events;
  Column<Row> above(rank.first_device_row(), kNoRow);
  for (const Row row : rank.host_rows()) {
    const Row parent = e.parent[row];
    if (parent != kNoRow) above[row] = e.kind[parent] == Kind::op ? parent : above[parent];
  }
  return above;
}

/// Ops by External id. The index is built on the first lookup.
class OpById {
 public:
  OpById(const trace::Trace& trace, const trace::Rank& rank) : rank_(rank), external_(trace, rank) {}

  /// kNoRow when the row has no id or no op has that id.
  Row of(Row row) {
    const std::int64_t id = external_.of(row);
    if (id <= 0) return kNoRow;
    if (!built_) build();
    return ops_.find(id);
  }

 private:
  void build() {
    built_ = true;
    for (const Row row : rank_.host_rows())
      if (rank_.events.kind[row] == Kind::op) ops_.add(external_.of(row), row);
    ops_.build();
  }

  const trace::Rank& rank_;
  const ExternalId external_;
  IdIndex ops_;
  bool built_ = false;
};

}  // namespace

void fill_launches(const trace::Trace& trace, trace::Rank& rank) {
  EventTable& e = rank.events;
  e.launch.assign(e.size(), kNoRow);
  const trace::ArgReader correlation(trace, rank, "correlation");
  IdIndex launches;
  for (const Row row : rank.host_rows())
    if (e.kind[row] == Kind::runtime)
      if (const auto id = correlation.integer(row)) launches.add(*id, row);
  launches.build();
  for (const Row row : rank.device_rows())
    if (is_device_row(e.kind[row]))
      if (const auto id = correlation.integer(row)) e.launch[row] = launches.find(*id);
}

void fill_ops(const trace::Trace& trace, trace::Rank& rank) {
  EventTable& e = rank.events;
  e.op.assign(e.size(), kNoRow);
  OpById ops(trace, rank);
  const Column<Row> above = ops_above(rank);
  for (const Row row : rank.host_rows()) {
    if (e.kind[row] != Kind::runtime) continue;
    e.op[row] = above[row];
    if (e.op[row] == kNoRow) e.op[row] = ops.of(row);
  }
  for (const Row row : rank.device_rows()) {
    if (!is_device_work(e.kind[row])) continue;
    if (e.launch[row] != kNoRow) e.op[row] = e.op[e.launch[row]];
    if (e.op[row] == kNoRow) e.op[row] = ops.of(row);
  }
}

}  // namespace stepscope::derive
