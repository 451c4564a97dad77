// For tests: small memory snapshots, event by event.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "make_rank.h"

namespace stepscope::test {

inline constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// Events and blocks of one device, as the JSON of a snapshot.
class MadeSnapshot {
 public:
  void event(std::string_view action, std::int64_t address, std::int64_t size, int line, int stream = 0) {
    events_ += fmt::format(
        R"({}{{"action": "{}", "{}": {}, "size": {}, "stream": {}, "time_us": {}, "frames": [
        {{"name": "step", "filename": "/home/a/train.py", "line": {}}}]}})",
        events_.empty() ? "" : ", ", action, action == "oom" ? "device_free" : "addr", address, size, stream,
        100 + time_++, line);
  }
  void free(std::int64_t address, std::int64_t size, int line) {
    event("free_requested", address, size, line);
    event("free_completed", address, size, line);
  }
  /// Blocks: (size, requested), a requested size of 0 for a free one.
  void segment(std::int64_t address, std::vector<std::pair<std::int64_t, std::int64_t>> blocks) {
    std::string text;
    std::int64_t all = 0;
    for (const auto& [size, requested] : blocks) {
      text +=
          fmt::format(R"({}{{"address": {}, "size": {}, "requested_size": {}, "state": "{}", "frames": []}})",
                      text.empty() ? "" : ", ", address + all, size, requested,
                      requested > 0 ? "active_allocated" : "inactive");
      all += size;
    }
    segments_ += fmt::format(
        R"({}{{"device": 0, "address": {}, "total_size": {}, "stream": 0, "segment_type": "large", "blocks": [{}]}})",
        segments_.empty() ? "" : ", ", address, all, text);
  }
  trace::Trace open() const {
    return open_json(fmt::format(R"({{"segments": [{}], "device_traces": [[{}]]}})", segments_, events_));
  }

 private:
  std::string events_, segments_;
  int time_ = 0;
};

// Ten steps. Line 1 begins each, lines 2 to 4 work and are freed; line 9 keeps 2 MiB of each step.
inline MadeSnapshot leaking(int steps, bool leaks) {
  MadeSnapshot made;
  std::int64_t kept = 100 * kMiB;
  for (int step = 0; step < steps; ++step) {
    for (int line = 1; line <= 4; ++line) made.event("alloc", line * kMiB, 1000, line);
    if (leaks) made.event("alloc", kept += 2 * kMiB, 2 * kMiB, 9);
    for (int line = 4; line >= 1; --line) made.free(line * kMiB, 1000, line);
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> blocks;
  for (int step = 0; leaks && step < steps; ++step) blocks.emplace_back(2 * kMiB, 2 * kMiB);
  if (leaks) made.segment(102 * kMiB, blocks);
  return made;
}

// 30 MiB are free in two pieces of 15 MiB, between blocks that stay.
inline MadeSnapshot split(std::int64_t request, std::int64_t device_free) {
  MadeSnapshot made;
  for (int block = 0; block < 4; ++block)
    made.event("alloc", (block * 15 + 100) * kMiB, 15 * kMiB, 1 + block);
  made.free(100 * kMiB, 15 * kMiB, 1);
  made.free(130 * kMiB, 15 * kMiB, 3);
  made.event("oom", device_free, request, 8);
  made.segment(100 * kMiB, {{15 * kMiB, 0}, {15 * kMiB, 15 * kMiB}, {15 * kMiB, 0}, {15 * kMiB, 15 * kMiB}});
  return made;
}

}  // namespace stepscope::test
