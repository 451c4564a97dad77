#include "derive/places/short_operators.h"

#include <algorithm>
#include <unordered_map>

#include "derive/kernel_class.h"
#include "trace/asked_once.h"

namespace stepscope::derive {

using timeline::Interval;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Row;

std::vector<NodeOf> nodes_with_makers(const trace::Trace& trace, const trace::Rank& rank) {
  const EventTable& e = rank.events;
  const trace::ArgReader sequence(trace, rank, "Sequence number");
  trace::AskedOnce is_node(trace.strings, is_autograd_node);
  std::vector<Row> node_around(rank.first_device_row(), kNoRow);  // the outermost one, itself included
  // By sequence number: the last operator to begin; the node around the last one that a node called.
  std::unordered_map<std::int64_t, Row> makers, maker_nodes;
  std::vector<NodeOf> nodes;
  for (const Row row : rank.host_rows()) {
    if (!is_host_range(e.kind[row])) continue;
    const Row parent = e.parent[row];
    const Row around = parent == kNoRow ? kNoRow : node_around[parent];
    const bool node = e.kind[row] == Kind::op && is_node(e.name[row]);
    node_around[row] = around == kNoRow && node ? row : around;
    if (node && around == kNoRow) nodes.push_back({row});
    const std::int64_t number = node || e.kind[row] != Kind::op ? -1 : sequence.integer_or(row, -1);
    if (number < 0) continue;
    if (around != kNoRow) {
      const bool is_its_own = number == sequence.integer_or(around, -1);  // "MmBackward0" inside its node
      if (!is_its_own) maker_nodes[number] = around;
      continue;
    }
    Row& maker = makers.try_emplace(number, row).first->second;
    if (e.start[row] >= e.start[maker]) maker = row;
  }
  for (NodeOf& of : nodes) {
    const std::int64_t number = sequence.integer_or(of.node, -1);
    if (const auto maker = makers.find(number); maker != makers.end())
      of.maker = maker->second;
    else if (const auto around = maker_nodes.find(number); around != maker_nodes.end())
      of.maker_node = around->second;
  }
  return nodes;
}

std::vector<Row> outermost_operators(const trace::Trace& trace, const trace::Rank& rank,
                                     trace::TrackId thread) {
  const EventTable& e = rank.events;
  trace::AskedOnce is_node(trace.strings, is_autograd_node);
  std::vector<Row> rows;
  timeline::Time until = trace::kNoTime;
  for (Row row = rank.tracks[thread].begin; row < rank.tracks[thread].end; ++row) {
    if (e.kind[row] != Kind::op || e.start[row] < until) continue;
    until = e.end[row];
    if (!is_node(e.name[row])) rows.push_back(row);
  }
  return rows;
}

timeline::IntervalSet operators_below_nodes(const trace::Trace& trace, const trace::Rank& rank,
                                            trace::TrackId thread) {
  const EventTable& e = rank.events;
  trace::AskedOnce is_node(trace.strings, is_autograd_node);
  Column<Interval> ops;
  for (Row row = rank.tracks[thread].begin; row < rank.tracks[thread].end; ++row) {
    if (e.kind[row] != Kind::op || is_node(e.name[row])) continue;
    Row around = e.parent[row];
    while (around != kNoRow && e.kind[around] != Kind::op) around = e.parent[around];
    if (around != kNoRow && is_node(e.name[around])) ops.push_back({e.start[row], e.end[row]});
  }
  return timeline::IntervalSet::of(std::move(ops));
}

Row outermost(const trace::Rank& rank, Row op) {
  Row found = op;
  for (Row row = op; row != kNoRow; row = rank.events.parent[row])
    if (rank.events.kind[row] == Kind::op) found = row;
  return found;
}

Interval short_call(const trace::Rank& rank, const std::vector<Row>& rows, std::size_t i) {
  const EventTable& e = rank.events;
  const Row row = rows[i];
  if (e.duration(row) >= kShortOperator) return {e.start[row], e.start[row]};
  const bool goes_on = i + 1 < rows.size() && e.track[rows[i + 1]] == e.track[row] &&
                       e.start[rows[i + 1]] - e.end[row] <= kShortOperator;
  return {e.start[row], goes_on ? std::max(e.start[rows[i + 1]], e.end[row]) : e.end[row]};
}

}  // namespace stepscope::derive
