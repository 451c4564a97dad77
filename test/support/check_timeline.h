// The invariants of a timeline's answers. They hold for any input.
#pragma once

#include <string>
#include <vector>

#include "base/check.h"
#include "lanes/timeline.h"
#include "report/formats/json.h"
#include "report/utf8.h"
#include "trace/trace.h"

namespace stepscope::test {

inline void check_json(const std::string& answer) {
  CHECK(!answer.empty() && report::valid_utf8(answer) == answer);
  CHECK(answer.find('\n') == std::string::npos);
}

inline void check_timeline(const trace::Trace& trace) {
  constexpr std::uint32_t kLanes = 8;
  constexpr std::int64_t kEvents = 40;
  const lanes::Timeline timeline(trace, 1);
  check_json(timeline.summary());
  check_json(*timeline.search({"a", lanes::Place{}, {}}));
  if (const auto names = timeline.names(0)) check_json(*names);
  std::vector<std::uint32_t> asked;
  while (asked.size() < kLanes && timeline.tiles(0, 0, std::vector{static_cast<std::uint32_t>(asked.size())}))
    asked.push_back(static_cast<std::uint32_t>(asked.size()));
  for (int level = 0; level <= 62; level += 2)
    for (const std::int64_t tile : {std::int64_t{0}, std::int64_t{1}, INT64_MAX}) {
      CHECK(timeline.tiles(level, tile, asked).ok());
      if (timeline.counters(level, tile, std::vector{0U})) CHECK(timeline.counters(level, tile, {}).ok());
    }
  for (std::int64_t id = 0; id < kEvents; ++id)
    if (const auto event = timeline.event(trace.ranks.at(0).rank < 0 ? 0 : trace.ranks.at(0).rank, id))
      check_json(*event);
  CHECK(report::to_json(*timeline.area(0, INT64_MAX / 2, asked)).size() > 0);
}

}  // namespace stepscope::test
