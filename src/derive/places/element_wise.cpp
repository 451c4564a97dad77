#include "derive/places/element_wise.h"

#include <unordered_map>

#include "derive/work/work.h"
#include "trace/asked_once.h"

namespace stepscope::derive {

using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Row;

std::vector<std::pair<Row, timeline::Time>> element_wise_calls(const trace::Trace& trace,
                                                               const trace::Rank& rank,
                                                               const std::vector<NodeOf>& nodes,
                                                               timeline::Interval window) {
  const EventTable& e = rank.events;
  trace::AskedOnce is_element_wise(trace.strings, is_elementwise);
  std::unordered_map<Row, Row> maker_of;
  for (const NodeOf& node : nodes) maker_of[node.node] = outermost(rank, node.maker);
  std::vector<std::pair<Row, timeline::Time>> calls;
  for (const Row row : rank.host_rows()) {
    if (e.kind[row] != Kind::op || !is_element_wise(e.name[row]) || !window.contains(e.start[row])) continue;
    Row call = row;
    bool inside = false;
    for (Row at = e.parent[row]; at != kNoRow && !inside; at = e.parent[at]) {
      if (e.kind[at] != Kind::op) continue;
      inside = is_element_wise(e.name[at]);
      const auto node = maker_of.find(at);
      call = node != maker_of.end() ? node->second : at;
      if (node != maker_of.end()) break;
    }
    if (!inside) calls.emplace_back(call, e.duration(row));
  }
  return calls;
}

}  // namespace stepscope::derive
