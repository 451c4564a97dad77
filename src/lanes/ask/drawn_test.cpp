// Paths and idle stretches as the timeline draws them, counted by hand. Times are µs in the traces.
#include "lanes/ask/drawn.h"

#include <gtest/gtest.h>

#include "analyze/idle/idle_places.h"
#include "analyze/path/critical_path.h"
#include "lanes/tile_for_test.h"
#include "make_rank.h"

namespace stepscope::lanes {
namespace {

using Lines = std::vector<std::string>;
using test::each;
using test::json_at;
using trace::kNoRow;

// A kernel at 10–30, launched at 5 within an operator from 2 on, and a copy at 60–70, launched at 9.
trace::Trace launched_work() {
  return test::open_events(R"J(
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 6, "ts": 2, "dur": 20},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 6, "ts": 5, "dur": 3, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 5, "tid": 6, "ts": 9, "dur": 4, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10, "dur": 20, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7, "ts": 60, "dur": 10, "args": {"device": 0, "stream": 7, "correlation": 2, "bytes": 1000}}
)J");
}

/// "lane/row id [start, end) time kind x count" of each part.
Lines parts_of(const std::string& answer) {
  Lines out;
  const Lines lane = each(answer, "/parts", "lane"), row = each(answer, "/parts", "row"),
              id = each(answer, "/parts", "id"), start = each(answer, "/parts", "start"),
              end = each(answer, "/parts", "end"), time = each(answer, "/parts", "time"),
              kind = each(answer, "/parts", "kind"), count = each(answer, "/parts", "count");
  for (std::size_t i = 0; i < lane.size(); ++i)
    out.push_back(fmt::format("{}/{} {} [{}, {}) {} {} x{}", lane[i], row[i], id[i], start[i], end[i],
                              time[i], kind[i], count[i]));
  return out;
}

DrawnPath whole_path(const trace::Trace& trace) {
  const analyze::StepPath path = analyze::path_of_step(trace, trace.ranks[0], nullptr);
  DrawnPath drawn{0, {}, path.time, {}, {}, path.notes};
  for (const analyze::PathStretch& stretch : path.stretches)
    drawn.parts.push_back(
        {{2'000 + stretch.start, 2'000 + stretch.end}, stretch.time, name_of(stretch.type), stretch.row});
  return drawn;
}

// Lane 0 is the stream, lane 1 the thread. The run begins with the operator.
TEST(DrawnPath, LeadsFromEventToEvent) {
  const trace::Trace trace = launched_work();
  const Timeline timeline(trace);
  const std::string answer = *timeline.path(whole_path(trace), {});
  EXPECT_EQ(parts_of(answer), (Lines{R"(1/0 0 [0, 3000) 3000 "operator" x1)",
                                     R"(null/null null [3000, 8000) 5000 "kernel_launch_delay" x1)",
                                     R"(0/0 3 [8000, 28000) 20000 "operator" x1)",
                                     R"(null/null null [28000, 58000) 30000 "kernel_kernel_delay" x1)",
                                     R"(0/0 4 [58000, 68000) 10000 "operator" x1)"}));
  EXPECT_EQ(json_at(answer, "/time"), "68000");
  EXPECT_EQ(json_at(answer, "/joined"), "0");
  EXPECT_EQ(json_at(answer, "/step"), "null");
  EXPECT_EQ(json_at(answer, "/summary"),
            R"("Critical path of rank 0: 68.0 µs · )"
            R"(The profiler marked no step here: this is the path of the whole recording.")");
  const std::string part = *timeline.path(whole_path(trace), timeline::Interval{5'000, 9'000});
  EXPECT_EQ(each(part, "/parts", "id"), (Lines{"null", "3"}));
  EXPECT_FALSE(timeline.path(whole_path(trace), timeline::Interval{9, 9}).ok());
  EXPECT_FALSE(timeline.path(whole_path(trace), timeline::Interval{-1, 9}).ok());
}

// 5,000 parts of 10 ns each: least is 50,000 / 996 + 1 = 51 ns, so six are joined to 60 ns.
TEST(DrawnPath, JoinsShortParts) {
  const trace::Trace trace = launched_work();
  const Timeline timeline(trace);
  DrawnPath path{0, 4, 50'000, {}, {}, {}};
  for (Time i = 0; i < 5'000; ++i)
    path.parts.push_back({{2'000 + i * 10, 2'010 + i * 10}, 10, "x", i % 2 == 0 ? 3u : kNoRow});
  const std::string answer = *timeline.path(path, {});
  const auto part = [&](int at, const char* member) {
    return json_at(answer, fmt::format("/parts/{}{}", at, member));
  };
  EXPECT_EQ(part(0, "/end"), "60");
  EXPECT_EQ(part(0, "/time"), "60");
  EXPECT_EQ(part(0, "/count"), "6");
  EXPECT_EQ(part(1, "/start"), "60");
  EXPECT_EQ(part(1, "/id"), "3") << "the longest that has a place";
  EXPECT_EQ(part(833, "/start"), "49980");
  EXPECT_EQ(part(833, "/time"), "20");
  EXPECT_EQ(part(834, ""), "nothing at /parts/834");
  EXPECT_EQ(json_at(answer, "/joined"), "4166");
  EXPECT_EQ(json_at(answer, "/step"), "4");
  EXPECT_EQ(json_at(*timeline.path(path, timeline::Interval{0, 1'000}), "/joined"), "0");
}

TEST(DrawnPath, NeverGoesBack) {
  const trace::Trace trace = launched_work();
  const Timeline timeline(trace);
  DrawnPath path{0, {}, 0, {}, {}, {}};
  for (Time i = 0; i < 10'000; ++i)
    path.parts.push_back({{2'000 + i % 3 * 400, 2'900 - i % 7 * 100}, 1, "x", 0});
  const std::string answer = *timeline.path(path, {});
  const Lines start = each(answer, "/parts", "start"), end = each(answer, "/parts", "end");
  ASSERT_LE(start.size(), kMaxDrawn);
  for (std::size_t i = 0; i < start.size(); ++i) {
    EXPECT_LE(std::stoll(start[i]), std::stoll(end[i]));
    EXPECT_LE(i == 0 ? 0 : std::stoll(end[i - 1]), std::stoll(start[i]));
  }
}

// Before the kernel the device waits for the operator until 5, then for the launch; before the copy, which
// was launched at 9, for what is launched.
TEST(DrawnIdle, HasItsCauseAndWhatTheHostDid) {
  const trace::Trace trace = launched_work();
  const Timeline timeline(trace);
  const analyze::Derived derived(trace, {});
  const trace::Rank& rank = trace.ranks[0];
  const DrawnIdle idle = {
      {{0, &derived.busy(rank), &derived.idle(rank), &analyze::idle_hosts(derived, rank).of_piece}},
      {"a note"}};
  const std::string answer = *timeline.idle(idle, {});
  EXPECT_EQ(json_at(answer, "/devices"), R"([{"rank":0,"device":0,"lanes":[0]}])");
  EXPECT_EQ(json_at(answer, "/time"), "38000");
  EXPECT_EQ(json_at(answer, "/notes"), R"(["a note"])");
  EXPECT_EQ(json_at(answer, "/summary"), R"("Devices idle: 38.0 µs · 92.1 % pending · 7.89 % op · a note")");
  Lines causes;
  for (const std::string& at : each(answer, "/stretches", "cause"))
    causes.push_back(json_at(answer, "/causes/" + at + "/cause"));
  EXPECT_EQ(causes, (Lines{R"("op")", R"("pending")", R"("pending")"}));
  EXPECT_EQ(each(answer, "/stretches", "start"), (Lines{"0", "3000", "28000"}));
  EXPECT_EQ(each(answer, "/stretches", "end"), (Lines{"3000", "8000", "58000"}));
  EXPECT_EQ(each(answer, "/stretches", "host"), (Lines{"0", "1", "2"}));
  EXPECT_EQ(each(answer, "/stretches", "ended_by"), (Lines{"3", "3", "4"}));
  EXPECT_EQ(each(*timeline.idle(idle, timeline::Interval{5'000, 28'000}), "/stretches", "host"), Lines{"1"});
  EXPECT_FALSE(timeline.idle(idle, timeline::Interval{5, 4}).ok());
}

// One kernel per 10 µs, each 1 µs longer than the one before: the shortest gaps are left out.
TEST(DrawnIdle, ListsTheLongest) {
  std::string events;
  for (int i = 0; i < 2'100; ++i)
    events += fmt::format(
        R"({}{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{},"dur":{},"args":{{"device":0,"stream":7}}}})",
        i == 0 ? "" : ",", i * 10'000, 1 + i);
  const trace::Trace trace = test::open_events(events);
  const Timeline timeline(trace);
  const analyze::Derived derived(trace, {});
  const trace::Rank& rank = trace.ranks[0];
  const std::string answer = *timeline.idle(
      {{{0, &derived.busy(rank), &derived.idle(rank), &analyze::idle_hosts(derived, rank).of_piece}}, {}},
      {});
  EXPECT_EQ(json_at(answer, "/shorter"), "99") << "2,099 gaps";
  EXPECT_EQ(json_at(answer, "/stretches/2000"), "nothing at /stretches/2000");
  EXPECT_EQ(json_at(answer, "/stretches/1999/start"), std::to_string((1'999 * 10'000 + 2'000) * 1'000LL));
}

}  // namespace
}  // namespace stepscope::lanes
