#include "derive/recompute.h"

#include <string_view>

namespace stepscope::derive {
namespace {

using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::Trace;

constexpr std::string_view kNode = "autograd::engine::evaluate_function: ";

/// Marks every host row below (and with) the rows that `starts` names. Parents stand before their children.
template <class Starts>
bool mark_below(const EventTable& e, std::vector<bool>& rows, Starts starts) {
  bool any = false;
  for (Row row = 0; row < e.size(); ++row) {
    if (!is_host_range(e.kind[row])) continue;
    const Row parent = e.parent[row];
    rows[row] = starts(row, parent != kNoRow && rows[parent]);
    any |= rows[row];
  }
  return any;
}

bool by_python_stack(const Trace& trace, const EventTable& e, std::vector<bool>& rows) {
  std::vector<std::int8_t> recomputes(trace.strings.size(), -1);
  return mark_below(e, rows, [&](Row row, bool inherited) {
    if (inherited || e.kind[row] != Kind::python) return inherited;
    std::int8_t& known = recomputes[e.name[row]];
    if (known < 0) {
      const std::string_view name = trace.text(e.name[row]);
      known = name.find("torch/utils/checkpoint.py") != name.npos && name.find("recompute_fn") != name.npos;
    }
    return known == 1;
  });
}

bool by_sequence_numbers(const Trace& trace, const Rank& rank, std::vector<bool>& rows) {
  const EventTable& e = rank.events;
  const trace::ArgReader sequence(trace, rank, "Sequence number"),
      forward_thread(trace, rank, "Fwd thread id");
  std::vector<Row> node(e.size(), kNoRow);  // the evaluate_function above, or the row itself
  std::vector<std::int8_t> is_node(trace.strings.size(), -1);
  return mark_below(e, rows, [&](Row row, bool inherited) {
    const Row parent = e.parent[row];
    node[row] = parent == kNoRow ? kNoRow : node[parent];
    if (e.kind[row] != Kind::op) return inherited;
    const std::string_view name = trace.text(e.name[row]);
    std::int8_t& known = is_node[e.name[row]];
    if (known < 0) known = name.starts_with(kNode);
    if (known == 1) {
      node[row] = row;
      return false;
    }
    if (inherited || node[row] == kNoRow) return inherited;
    const auto own = sequence.integer(row), of_node = sequence.integer(node[row]);
    return own && of_node && *own != *of_node && forward_thread.integer(row) == 0 &&
           name != trace.text(e.name[node[row]]).substr(kNode.size());
  });
}

}  // namespace

Recomputation recomputed_rows(const Trace& trace, const Rank& rank) {
  Recomputation found;
  found.rows.assign(rank.events.size(), false);
  if (by_python_stack(trace, rank.events, found.rows))
    found.evidence = Recomputation::Evidence::python_stack;
  else if (by_sequence_numbers(trace, rank, found.rows))
    found.evidence = Recomputation::Evidence::sequence_numbers;
  return found;
}

}  // namespace stepscope::derive
