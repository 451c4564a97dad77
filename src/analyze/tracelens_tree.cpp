#include "analyze/tracelens_tree.h"

#include <algorithm>
#include <unordered_map>

#include "derive/kernel_class.h"
#include "timeline/interval.h"

namespace stepscope::analyze::lens {

using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::Trace;

namespace {

constexpr std::int64_t kMostCrossing = 1000;  // ns
/// No real program nests deeper. It bounds how many subtrees a device event belongs to.
constexpr std::size_t kDeepest = 512;

/// Arrows of one id: whether one starts, and where they end.
struct Arrow {
  bool starts = false;
  std::vector<trace::TrackId> ends;
};
using Arrows = std::unordered_map<std::int64_t, Arrow>;

Arrows launch_arrows(const Trace& trace, const Rank& rank) {
  const trace::StringId launch = trace.strings.find("ac2g");
  const trace::FlowTable& flows = rank.flows;
  Arrows arrows;
  for (Row i = 0; i < flows.size(); ++i) {
    if (flows.category[i] != launch) continue;
    if (flows.phase[i] == 's') arrows[flows.id[i]].starts = true;
    if (flows.phase[i] == 'f') arrows[flows.id[i]].ends.push_back(flows.track[i]);
  }
  return arrows;
}

}  // namespace

HostTree::HostTree(const Trace& trace, const Rank& rank)
    : parent_(rank.events.size(), kNoRow),
      end_(rank.events.size(), 0),
      owner_(rank.events.size(), kNoRow),
      launcher_(rank.events.size(), kNoRow) {
  nest(rank);
  link(trace, rank);
  sort_by_launch(rank.events);
  find_launchers(trace, rank.events);
}

void HostTree::nest(const Rank& rank) {
  const EventTable& e = rank.events;
  std::vector<Row> open;
  for (const trace::Track& track : rank.tracks) {
    if (track.side != trace::Track::Side::host) continue;
    const auto close = [&](Row at) {
      end_[open.back()] = at;
      open.pop_back();
    };
    for (Row row = track.begin; row < track.end; ++row) {
      if (e.kind[row] != Kind::op && e.kind[row] != Kind::runtime) continue;
      while (!open.empty() && e.end[open.back()] <= e.start[row]) close(row);
      if (!open.empty() && e.end[row] > e.end[open.back()]) {
        if (open.size() < 2 || e.end[open.back()] - e.start[row] >= kMostCrossing) continue;
        close(row);
      }
      if (open.size() == kDeepest) continue;
      if (!open.empty()) parent_[row] = open.back();
      open.push_back(row);
    }
    while (!open.empty()) close(track.end);
  }
}

void HostTree::link(const Trace& trace, const Rank& rank) {
  const EventTable& e = rank.events;
  const trace::ArgReader correlation(trace, rank, "correlation");
  const Arrows arrows = launch_arrows(trace, rank);
  for (Row row = 0; row < e.size(); ++row) {
    const Row launch = e.launch[row];
    if (!is_device_work(e.kind[row]) || launch == kNoRow || !holds(launch)) continue;
    if (!derive::is_graph_launch(trace.text(e.name[launch]))) {
      const auto arrow = arrows.find(correlation.integer_or(row, 0));
      if (arrow == arrows.end() || !arrow->second.starts) continue;
      const auto& ends = arrow->second.ends;
      if (std::find(ends.begin(), ends.end(), e.track[row]) == ends.end()) continue;
    }
    owner_[row] = launch;
    linked_.push_back(row);
  }
}

void HostTree::sort_by_launch(const EventTable& e) {
  std::sort(linked_.begin(), linked_.end(), [&](Row a, Row b) {
    if (owner_[a] != owner_[b]) return owner_[a] < owner_[b];
    if (e.start[a] != e.start[b]) return e.start[a] < e.start[b];
    return e.source[a] < e.source[b];
  });
  first_.assign(std::size_t{e.size()} + 1, 0);
  for (const Row row : linked_) ++first_[owner_[row] + 1];
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
}

void HostTree::find_launchers(const Trace& trace, const EventTable& e) {
  const trace::StringId execute = trace.strings.find("execute");
  std::vector<Row> op_above(e.size(), kNoRow);  // or the row itself; parents come first
  for (Row row = 0; row < e.size(); ++row) {
    if (!holds(row)) continue;
    if (e.kind[row] == Kind::op && e.name[row] != execute)
      op_above[row] = row;
    else if (parent_[row] != kNoRow)
      op_above[row] = op_above[parent_[row]];
  }
  for (const Row row : linked_) {
    const Row op = op_above[owner_[row]];
    launcher_[row] = op == kNoRow ? owner_[row] : op;
  }
}

std::int64_t united(const EventTable& e, std::span<const Row> events) {
  if (events.size() == 1) return e.duration(events.front());
  Column<timeline::Interval> spans;
  spans.reserve(events.size());
  for (const Row row : events) spans.push_back({e.start[row], e.end[row]});
  return timeline::IntervalSet::of(std::move(spans)).length();
}

}  // namespace stepscope::analyze::lens
