#include "derive/row_time.h"

#include <algorithm>
#include <limits>

#include "base/sort_runs.h"

namespace stepscope::derive {
namespace {

using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

/// No real program nests deeper. The limit keeps a hostile file from making this quadratic.
constexpr int kMaxAncestors = 4096;

/// Lengths of unions, per row. Intervals must be added in order of start.
class Unions {
 public:
  explicit Unions(std::size_t rows)
      : length_(rows), covered_(rows, std::numeric_limits<std::int64_t>::min()) {}
  void add(Row row, std::int64_t start, std::int64_t end) {
    const std::int64_t from = std::max(start, covered_[row]);
    if (end <= from) return;
    length_[row] += end - from;
    covered_[row] = end;
  }
  std::vector<std::int64_t> take() { return std::move(length_); }

 private:
  std::vector<std::int64_t> length_, covered_;
};

std::vector<std::int64_t> host_self_times(const Rank& rank) {
  const EventTable& e = rank.events;
  std::vector<std::int64_t> self(e.size());
  for (Row row = 0; row < e.size(); ++row) {
    if (!is_host_range(e.kind[row])) continue;
    self[row] += e.duration(row);
    const Row parent = e.parent[row];
    if (parent != kNoRow)
      self[parent] -= std::max<std::int64_t>(0, std::min(e.end[row], e.end[parent]) - e.start[row]);
  }
  for (std::int64_t& time : self) time = std::max<std::int64_t>(0, time);
  return self;
}

}  // namespace

Column<Row> device_rows_by_start(const Rank& rank) {
  const EventTable& e = rank.events;
  Column<Row> rows;
  for (const Row row : rank.device_rows())
    if (is_device_work(e.kind[row])) rows.push_back(row);
  sort_runs(rows, [&](Row a, Row b) { return e.start[a] < e.start[b]; });
  return rows;
}

RowTimes row_times(const Rank& rank) {
  const EventTable& e = rank.events;
  Unions self(e.size()), total(e.size());
  for (Row row : device_rows_by_start(rank)) {
    if (e.op[row] == kNoRow) continue;
    self.add(e.op[row], e.start[row], e.end[row]);
    int looked = 0;
    for (Row at = e.op[row]; at != kNoRow && looked < kMaxAncestors; at = e.parent[at], ++looked)
      if (e.kind[at] == Kind::op || e.kind[at] == Kind::annotation) total.add(at, e.start[row], e.end[row]);
  }
  return {host_self_times(rank), self.take(), total.take()};
}

}  // namespace stepscope::derive
