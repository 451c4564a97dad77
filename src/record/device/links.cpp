#include "record/device/links.h"

#include <algorithm>
#include <tuple>

namespace stepscope::record {
namespace {

/// The ranges that are open on one thread while its calls are walked in time order.
class OpenRanges {
 public:
  void open(const HostRange& range, std::int64_t annotation) {
    close_before(range.begin_ns);
    open_.push_back({&range, annotation});
  }
  void enclose(LaunchCall& call) {
    // The call's middle: its ends may be off by the error between the clocks.
    const std::int64_t at = call.begin_ns + (call.end_ns - call.begin_ns) / 2;
    close_before(at);
    for (auto it = open_.rbegin(); it != open_.rend() && (call.op == 0 || call.annotation < 0); ++it) {
      if (it->range->end_ns < at) continue;
      if (it->annotation >= 0 && call.annotation < 0) call.annotation = it->annotation;
      if (it->annotation < 0 && call.op == 0) call.op = it->range->id;
    }
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

}  // namespace

void DeviceLinks::join(std::vector<HostRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const HostRange& a, const HostRange& b) {
    return std::tuple(a.thread, a.begin_ns, -a.end_ns, -a.id) <
           std::tuple(b.thread, b.begin_ns, -b.end_ns, -b.id);
  });
  const auto middle = [](const LaunchCall& call) {
    return call.begin_ns + (call.end_ns - call.begin_ns) / 2;
  };
  std::sort(calls_.begin(), calls_.end(), [&](const LaunchCall& a, const LaunchCall& b) {
    return std::pair(a.thread, middle(a)) < std::pair(b.thread, middle(b));
  });
  OpenRanges open;
  std::uint32_t thread = 0;
  auto range = ranges.begin();
  const auto begins = [&](const LaunchCall& call) {
    return std::pair(range->thread, range->begin_ns) <= std::pair(call.thread, middle(call));
  };
  for (LaunchCall& call : calls_) {
    if (call.thread != thread) open = {}, thread = call.thread;
    for (; range != ranges.end() && begins(call); ++range) {
      if (range->thread != call.thread) continue;
      open.open(*range, range->name >= 0 ? static_cast<std::int64_t>(annotations_.size()) : -1);
      if (range->name >= 0) annotations_.push_back(*range);
    }
    open.enclose(call);
  }
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
