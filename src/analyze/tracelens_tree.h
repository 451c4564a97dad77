// TraceLens's view of one rank: its host tree, and the device events that it can link to the tree by flow
// arrows.
#pragma once

#include <span>
#include <vector>

#include "trace/trace.h"

namespace stepscope::analyze::lens {

/// Ops and runtime calls only. Of two ranges that cross by less than 1 µs the later one hangs beside the
/// earlier one; with more overlap it is left out. A launch owns a device event when an arrow of its
/// correlation starts on the host and ends on the event's stream; a graph launch owns all events of its
/// correlation.
class HostTree {
 public:
  HostTree(const trace::Trace& trace, const trace::Rank& rank);

  /// False for rows that are no ops or runtime calls, and for those left out.
  bool holds(trace::Row row) const { return end_[row] != 0; }
  trace::Row parent(trace::Row row) const { return parent_[row]; }
  /// Rows row … end_of(row) - 1 are its subtree, rows outside the tree between them aside.
  trace::Row end_of(trace::Row row) const { return end_[row]; }
  /// Linked device events under the row, by launch.
  std::span<const trace::Row> below(trace::Row row) const { return between(row, end_[row]); }
  /// All linked device events by launch; `owner` is the launch.
  std::span<const trace::Row> linked() const { return linked_; }
  trace::Row owner(trace::Row device_row) const { return owner_[device_row]; }
  /// The op that launched the event: the nearest above its launch that is not called `execute`; without any
  /// the launch itself. kNoRow for an event that is not linked.
  trace::Row launcher(trace::Row device_row) const { return launcher_[device_row]; }

 private:
  void nest(const trace::Rank& rank);
  void link(const trace::Trace& trace, const trace::Rank& rank);
  void sort_by_launch(const trace::EventTable& e);
  void find_launchers(const trace::Trace& trace, const trace::EventTable& e);
  std::span<const trace::Row> between(trace::Row begin, trace::Row end) const {
    return {linked_.data() + first_[begin], linked_.data() + first_[end]};
  }

  std::vector<trace::Row> parent_, end_;
  std::vector<trace::Row> owner_, launcher_;
  std::vector<trace::Row> linked_;
  std::vector<std::uint32_t> first_;  ///< by row: linked events whose launch stands before it
};

/// Length in ns of the union of device events.
std::int64_t united(const trace::EventTable& e, std::span<const trace::Row> events);

}  // namespace stepscope::analyze::lens
