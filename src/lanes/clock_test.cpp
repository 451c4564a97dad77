#include "lanes/clock.h"

#include <gtest/gtest.h>

#include "lanes/tile_for_test.h"
#include "lanes/timeline.h"
#include "make_rank.h"

namespace stepscope::lanes {
namespace {

using Lines = std::vector<std::string>;
using test::each;
using test::json_at;

/// Five all-reduces with a launch each; the clock is `ahead` µs. Ids: launches are even, kernels odd.
std::string rank_of(const std::vector<std::pair<int, int>>& works, int ahead) {
  std::string text;
  int id = 0;
  for (const auto& [start, end] : works) {
    text += fmt::format(
        R"({}{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": {}, "dur": 1, "args": {{"correlation": {}}}}},)",
        text.empty() ? "" : ",", ahead + 2 + 2 * id, id + 1);
    ++id;
    text += fmt::format(
        R"({{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 8, "ts": {}, "dur": {}, "args": {{"device": 0, "stream": 8, "correlation": {}, "Collective name": "allreduce", "dtype": "Float", "In msg nelems": 1000, "Out msg nelems": 1000, "Group size": 2, "Process Group Name": "0", "Process Group Ranks": "[0, 1]", "Seq": {}}}}})",
        ahead + start, end - start, id, id);
  }
  return text;
}

trace::Trace two_ranks(int ahead) {
  return test::open_ranks({rank_of({{100, 110}, {200, 215}, {300, 330}, {400, 412}, {500, 520}}, 0),
                           rank_of({{90, 110}, {204, 215}, {310, 330}, {401, 412}, {480, 520}}, ahead)});
}

TEST(RunClock, RanksAreOnOneClockByTheEndsOfTheirCollectives) {
  const trace::Trace trace = two_ranks(5'000);
  const Timeline timeline(trace);
  const std::string summary = timeline.summary();
  EXPECT_EQ(json_at(summary, "/clock/aligned"), "true");
  EXPECT_EQ(json_at(summary, "/clock/own"), "[]");
  EXPECT_EQ(each(summary, "/lanes", "key"),
            (Lines{R"("r0/d0s8")", R"("r0/t5")", R"("r1/d0s8")", R"("r1/t5")"}));
  EXPECT_EQ(json_at(summary, "/end"), "518000") << "from the first launch at 2 µs";
  for (int kernel = 1; kernel < 10; kernel += 2)
    EXPECT_EQ(json_at(*timeline.event(0, kernel), "/end"), json_at(*timeline.event(1, kernel), "/end"));
  EXPECT_EQ(json_at(*timeline.event(1, 1), "/start"), "88000");
  EXPECT_EQ(json_at(summary, "/ranks"), R"([{"rank":0,"begin":0,"rate":1},{"rank":1,"begin":0,"rate":1}])")
      << "both launch at 2 µs of the common clock";
}

TEST(RunClock, ACollectiveLinksToTheOtherRanks) {
  const trace::Trace trace = two_ranks(5'000);
  const std::string event = *Timeline(trace).event(0, 3);
  EXPECT_EQ(each(event, "/links", "what"), (Lines{R"("launched by")", R"("same collective")"}));
  EXPECT_EQ(json_at(event, "/links/1/rank"), "1");
  EXPECT_EQ(json_at(event, "/links/1/id"), "3");
  EXPECT_EQ(json_at(event, "/links/1/lane"), "2");
}

TEST(RunClock, RanksWithoutACommonClockKeepTheirs) {
  const std::string op = R"({{"ph":"X","cat":"cpu_op","name":"a","pid":5,"tid":5,"ts":{},"dur":100}})";
  const auto starts = [&](int second) {
    const trace::Trace trace =
        test::open_ranks({fmt::format(fmt::runtime(op), 10), fmt::format(fmt::runtime(op), second)});
    const Timeline timeline(trace);
    EXPECT_EQ(json_at(timeline.summary(), "/clock"), R"({"aligned":false,"error_ns":0,"own":[0,1]})");
    EXPECT_EQ(json_at(timeline.summary(), "/ranks/1/begin"), json_at(*timeline.event(1, 0), "/start"));
    return Lines{json_at(*timeline.event(0, 0), "/start"), json_at(*timeline.event(1, 0), "/start"),
                 json_at(timeline.summary(), "/end")};
  };
  EXPECT_EQ(starts(40), (Lines{"0", "30000", "130000"})) << "as recorded";
  EXPECT_EQ(starts(400'000'000), (Lines{"0", "0", "100000"}))
      << "recorded at other times, so each begins at 0";
}

TEST(RunClock, NeverChangesTheOrderOfTimes) {
  derive::ClockMap map;
  map.origin = 1'000'000;
  map.shift = 77;
  map.drift = 1e-4;
  const ToRun to_run(map, 500, 0);
  for (Time t = 0; t < 100'000; ++t) ASSERT_LE(to_run(t), to_run(t + 1)) << t;
  constexpr Time kFarthest = std::numeric_limits<Time>::max();
  for (const ToRun& any :
       {to_run, ToRun({}, 4'000'000'000'000'000'000, -4'000'000'000'000'000'000), ToRun()}) {
    EXPECT_LE(any(kFarthest), kMaxTime);
    EXPECT_GE(any(-kFarthest), 0);
  }
}

}  // namespace
}  // namespace stepscope::lanes
