#include "derive/places/repeated_work.h"

#include <set>
#include <utility>

#include "derive/roof/recompute.h"

namespace stepscope::derive {
namespace {

using timeline::Interval;
using timeline::Time;
using trace::kNoRow;
using trace::Row;

Time recomputed_time(const trace::Trace& trace, const trace::Rank& rank, Interval window) {
  const trace::EventTable& e = rank.events;
  const Recomputation recomputed = recomputed_rows(trace, rank);
  Time time = 0;
  if (!recomputed.any()) return time;
  for (const Row row : rank.host_rows()) {
    const Row parent = e.parent[row];
    const bool outermost = parent == kNoRow || !recomputed.rows[parent];
    if (recomputed.rows[row] && outermost && window.contains(e.start[row])) time += e.duration(row);
  }
  return time;
}

}  // namespace

RepeatedWork repeated_work(const trace::Trace& trace, const trace::Rank& rank,
                           const std::vector<NodeOf>& nodes, Interval window) {
  const trace::EventTable& e = rank.events;
  const trace::ArgReader sequence(trace, rank, "Sequence number");
  RepeatedWork work;
  work.recomputed = recomputed_time(trace, rank, window);
  std::set<std::pair<Row, trace::StringId>> seen;
  for (const NodeOf& of : nodes) {
    if (!window.contains(e.start[of.node]) || sequence.integer_or(of.node, -1) < 0) continue;
    ++work.nodes;
    work.deeper += of.maker == kNoRow;
    if (of.maker != kNoRow && !seen.emplace(of.maker, e.name[of.node]).second)
      work.again += e.duration(of.node);
  }
  return work;
}

}  // namespace stepscope::derive
