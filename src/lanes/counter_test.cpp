#include "lanes/counter.h"

#include <gtest/gtest.h>

#include <random>

#include "lanes/small_run_for_test.h"
#include "lanes/tile_for_test.h"

namespace stepscope::lanes {
namespace {

using Lines = std::vector<std::string>;
using test::each;
using test::json_at;
using test::stretches_in;

TEST(TimelineCounters, ShareOfEachBucketInWhichADeviceWorks) {
  // Kernel and copy work from 30 to 70 µs of 120; a bucket has 16.384 µs.
  const trace::Trace trace = test::small_run();
  const Timeline timeline(trace);
  EXPECT_EQ(
      json_at(timeline.summary(), "/counters"),
      R"([{"counter":0,"key":"r0/d0/busy","rank":0,"name":"GPU 0 busy","unit":"share","max":1},)"
      R"({"counter":1,"key":"r0/d0s7/queue","rank":0,"name":"GPU 0 stream 7 queue","unit":"count","max":1}])");
  const std::uint32_t counter[] = {0};
  EXPECT_EQ(stretches_in(timeline.counters(14, 0, counter)),
            (Lines{"0 [0, 1) 0 to 0", "0 [1, 2) 0.16894531 to 0.16894531", "0 [2, 4) 1 to 1",
                   "0 [4, 5) 0.27246094 to 0.27246094", "0 [5, 8) 0 to 0"}));
  EXPECT_EQ(stretches_in(timeline.counters(14, 1, counter)), Lines{});
}

TEST(TimelineCounters, QueueOfLaunchedWork) {
  // Launched at 22 µs of the run, begun at 30 µs; a bucket has 1.024 µs.
  const trace::Trace trace = test::small_run();
  const std::uint32_t counter[] = {1};
  EXPECT_EQ(stretches_in(Timeline(trace).counters(10, 0, counter)),
            (Lines{"1 [21, 29) 1 to 1", "1 [29, 30) 0 to 1", "1 [30, 118) 0 to 0"}));
}

TEST(TimelineCounters, MemoryKeepsItsLowestAndHighest) {
  const trace::Trace trace = test::open_events(R"(
{"ph":"X","cat":"cpu_op","name":"a","pid":5,"tid":5,"ts":0,"dur":100},
{"ph":"i","cat":"cpu_instant_event","name":"[memory]","s":"t","pid":5,"tid":5,"ts":20,"args":{"Device Type":1,"Device Id":0,"Addr":64,"Bytes":400,"Total Allocated":1400,"Total Reserved":2000}},
{"ph":"i","cat":"cpu_instant_event","name":"[memory]","s":"t","pid":5,"tid":5,"ts":21,"args":{"Device Type":1,"Device Id":0,"Addr":128,"Bytes":200,"Total Allocated":1600,"Total Reserved":2000}},
{"ph":"i","cat":"cpu_instant_event","name":"[memory]","s":"t","pid":5,"tid":5,"ts":22,"args":{"Device Type":1,"Device Id":0,"Addr":64,"Bytes":-400,"Total Allocated":1200,"Total Reserved":2000}})");
  const Timeline timeline(trace);
  const std::string summary = timeline.summary();
  EXPECT_EQ(each(summary, "/counters", "name"),
            (Lines{R"("device 0 memory allocated")", R"("device 0 memory reserved")"}));
  EXPECT_EQ(each(summary, "/counters", "key"), (Lines{R"("r0/m1.0/allocated")", R"("r0/m1.0/reserved")"}));
  EXPECT_EQ(each(summary, "/counters", "max"), (Lines{"1600", "2000"}));
  EXPECT_EQ(each(summary, "/lanes", "events"), Lines{"1"}) << "reports of memory are no boxes";
  const std::uint32_t both[] = {0, 1};
  EXPECT_EQ(stretches_in(timeline.counters(14, 0, both)),
            (Lines{"0 [1, 2) 1200 to 1600", "0 [2, 7) 1200 to 1200", "1 [1, 7) 2000 to 2000"}));
  EXPECT_EQ(stretches_in(timeline.counters(9, 0, {both, 1})),
            (Lines{"0 [39, 41) 1400 to 1400", "0 [41, 42) 1400 to 1600", "0 [42, 43) 1200 to 1600",
                   "0 [43, 196) 1200 to 1200"}))
      << "20,000 ns are in bucket 39, 21,000 in 41, 22,000 in 42";
}

TEST(Steps, EqualTheValuesOneByOne) {
  std::mt19937 random(5);
  for (const std::size_t count : {1U, 15U, 16U, 17U, 300U, 5'000U}) {
    Column<Steps::Change> changes;
    Time at = 0;
    for (std::size_t i = 0; i < count; ++i)
      changes.push_back({at += static_cast<Time>(random() % 3), static_cast<float>(random() % 1'000)});
    const Steps steps(changes);
    for (int ask = 0; ask < 500; ++ask) {
      const Time from = changes.front().time + static_cast<Time>(random() % (3 * count));
      const Time to = from + 1 + static_cast<Time>(random() % (ask % 2 == 0 ? 10 : 3 * count));
      float lowest = 1e9, highest = -1;
      for (std::size_t i = 0; i < count; ++i) {
        const bool last_before = changes[i].time <= from && (i + 1 == count || changes[i + 1].time > from);
        if (!last_before && (changes[i].time <= from || changes[i].time >= to)) continue;
        lowest = std::min(lowest, changes[i].value);
        highest = std::max(highest, changes[i].value);
      }
      ASSERT_EQ(steps.in(from, to), (Range{lowest, highest})) << count << " " << from << " " << to;
    }
  }
}

}  // namespace
}  // namespace stepscope::lanes
