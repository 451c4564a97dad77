#include "record/device/links.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace stepscope::record {
namespace {

/// The ranges that are open on one thread while its points are walked in time order.
class OpenRanges {
 public:
  void open(const HostRange& range, std::int64_t annotation) {
    close_before(range.begin_ns);
    open_.push_back({&range, annotation});
  }
  struct Around {
    std::int64_t op = 0, annotation = -1;
  };
  Around around(std::int64_t at) {
    close_before(at);
    Around out;
    for (auto it = open_.rbegin(); it != open_.rend() && (out.op == 0 || out.annotation < 0); ++it) {
      if (it->range->end_ns < at) continue;
      if (it->annotation >= 0 && out.annotation < 0) out.annotation = it->annotation;
      if (it->annotation < 0 && out.op == 0) out.op = it->range->id;
    }
    return out;
  }

 private:
  struct Open {
    const HostRange* range;
    std::int64_t annotation;  // -1: an op
  };
  void close_before(std::int64_t at) {
    while (!open_.empty() && open_.back().range->end_ns < at) open_.pop_back();
  }
  std::vector<Open> open_;
};

template <class Point>
bool before(const Point& a, const Point& b) {
  return std::pair(a.thread, a.at_ns()) < std::pair(b.thread, b.at_ns());
}

/// Calls `take(point, around)` for each point; both lists are sorted by thread and time. Fills `annotations`.
template <class Point, class Take>
void walk(const std::vector<HostRange>& ranges, std::vector<Point>& points,
          std::vector<HostRange>& annotations, Take take) {
  OpenRanges open;
  std::uint32_t thread = 0;
  auto range = ranges.begin();
  const auto begins = [&](const Point& point) {
    return std::pair(range->thread, range->begin_ns) <= std::pair(point.thread, point.at_ns());
  };
  for (Point& point : points) {
    if (point.thread != thread) open = {}, thread = point.thread;
    for (; range != ranges.end() && begins(point); ++range) {
      if (range->thread != point.thread) continue;
      open.open(*range, range->name >= 0 ? static_cast<std::int64_t>(annotations.size()) : -1);
      if (range->name >= 0) annotations.push_back(*range);
    }
    take(point, open.around(point.at_ns()));
  }
}

}  // namespace

void DeviceLinks::join(std::vector<HostRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const HostRange& a, const HostRange& b) {
    return std::tuple(a.thread, a.begin_ns, -a.end_ns, -a.id) <
           std::tuple(b.thread, b.begin_ns, -b.end_ns, -b.id);
  });
  std::sort(calls_.begin(), calls_.end(), before<LaunchCall>);
  walk(ranges, calls_, annotations_, [](LaunchCall& call, const OpenRanges::Around& around) {
    call.op = around.op;
    call.annotation = around.annotation;
  });
  std::vector<HostRange> unused;
  walk(ranges, nodes_, unused, [](MadeNode& node, const OpenRanges::Around& around) { node.op = around.op; });
  std::sort(calls_.begin(), calls_.end(), [](const LaunchCall& a, const LaunchCall& b) {
    return std::pair(a.correlation, a.begin_ns) < std::pair(b.correlation, b.begin_ns);
  });
  for (std::size_t i = 1; i < calls_.size(); ++i) {
    const LaunchCall& before = calls_[i - 1];
    if (calls_[i].correlation != before.correlation) continue;
    const bool inside = calls_[i].begin_ns <= before.end_ns;  // a driver call inside a runtime call
    calls_[i].round = before.round + (inside ? 0 : 1);
  }
}

void DeviceLinks::take(std::vector<MadeNode> nodes) {
  nodes_ = std::move(nodes);
  std::sort(nodes_.begin(), nodes_.end(), before<MadeNode>);
  // A copy may also be told as made, where the graph is copied: outside of the op.
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (const auto [known, is_new] = node_at_.try_emplace(nodes_[i].node, i);
        !is_new && nodes_[i].original != 0)
      known->second = i;
}

bool DeviceLinks::makes_nodes(const HostRange& range) const {
  const auto first = std::lower_bound(
      nodes_.begin(), nodes_.end(), std::pair(range.thread, range.begin_ns),
      [](const MadeNode& node, const auto& key) { return std::pair(node.thread, node.ns) < key; });
  return first != nodes_.end() && first->thread == range.thread && first->ns <= range.end_ns;
}

const MadeNode* DeviceLinks::made(std::uint64_t node) const {
  constexpr int kMaxCopies = 16;
  for (int copies = 0; copies < kMaxCopies; ++copies) {
    const auto at = node_at_.find(node);
    if (at == node_at_.end()) return nullptr;
    if (nodes_[at->second].original == 0) return &nodes_[at->second];
    node = nodes_[at->second].original;
  }
  return nullptr;
}

LaunchCall* DeviceLinks::find(std::uint32_t correlation, std::int64_t begin_ns) {
  const auto after = std::upper_bound(calls_.begin(), calls_.end(), std::pair(correlation, begin_ns),
                                      [](const auto& key, const LaunchCall& call) {
                                        return key < std::pair(call.correlation, call.begin_ns);
                                      });
  if (after != calls_.begin() && std::prev(after)->correlation == correlation) return &*std::prev(after);
  // The work seems to begin before its call: the clocks are off, but the link is right.
  return after != calls_.end() && after->correlation == correlation ? &*after : nullptr;
}

}  // namespace stepscope::record
