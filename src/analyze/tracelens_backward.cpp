#include "analyze/tracelens_backward.h"

#include <string_view>
#include <unordered_map>

#include "derive/kernel_class.h"
#include "trace/asked_once.h"

namespace stepscope::analyze::lens {

using trace::Kind;
using trace::kNoRow;
using trace::Row;

namespace {

/// The op that began last, and the last one of any other thread.
struct Latest {
  Row first = kNoRow, other = kNoRow;

  void add(const trace::EventTable& e, Row row) {
    if (first == kNoRow || e.start[row] >= e.start[first]) {
      if (first != kNoRow && e.track[first] != e.track[row]) other = first;
      first = row;
    } else if (e.track[row] != e.track[first] && (other == kNoRow || e.start[row] >= e.start[other])) {
      other = row;
    }
  }
};

}  // namespace

std::vector<BackwardNode> backward_nodes(const Lens& lens) {
  const trace::EventTable& e = lens.e;
  const trace::ArgReader sequence(lens.trace, lens.rank, "Sequence number");
  trace::AskedOnce is_node(lens.trace.strings, derive::is_autograd_node);
  std::unordered_map<std::int64_t, Latest> latest;
  std::vector<Row> rows;
  for (Row row = 0; row < e.size(); ++row) {
    if (e.kind[row] != Kind::op || !lens.tree.holds(row)) continue;
    const auto number = sequence.integer(row);
    if (!number) continue;
    if (is_node(e.name[row])) rows.push_back(row);
    latest[*number].add(e, row);
  }
  std::vector<BackwardNode> nodes;
  for (const Row row : rows) {
    const Latest& found = latest[*sequence.integer(row)];
    const Row forward = e.track[found.first] != e.track[row] ? found.first : found.other;
    if (forward != kNoRow) nodes.push_back({row, forward});
  }
  return nodes;
}

}  // namespace stepscope::analyze::lens
