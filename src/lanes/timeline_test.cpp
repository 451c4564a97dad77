#include "lanes/timeline.h"

#include <gtest/gtest.h>

#include "lanes/small_run_for_test.h"
#include "lanes/tile_for_test.h"

namespace stepscope::lanes {
namespace {

using Lines = std::vector<std::string>;
using test::boxes_in;
using test::each;
using test::json_at;
using test::open_events;

constexpr std::uint32_t kStream = 0, kCopies = 1, kMain = 2;

TEST(Timeline, LanesInOrderWithNamesAndKeys) {
  const trace::Trace trace = test::small_run();
  const std::string summary = Timeline(trace).summary();
  EXPECT_EQ(each(summary, "/lanes", "key"), (Lines{R"("r0/d0s7")", R"("r0/d0s20")", R"("r0/t5")"}));
  EXPECT_EQ(each(summary, "/lanes", "role"), (Lines{R"("compute")", R"("copy")", R"("main")"}));
  EXPECT_EQ(each(summary, "/lanes", "name"), (Lines{R"("stream 7")", R"("stream 20")", R"("main")"}));
  EXPECT_EQ(each(summary, "/lanes", "title"),
            (Lines{R"("GPU 0 stream 7")", R"("GPU 0 stream 20")", R"("thread 5")"}));
  EXPECT_EQ(each(summary, "/lanes", "rows"), (Lines{"1", "1", "4"}));
  EXPECT_EQ(each(summary, "/lanes", "events"), (Lines{"1", "1", "4"}));
  EXPECT_EQ(json_at(summary, "/end"), "120000");
  EXPECT_EQ(json_at(summary, "/names"), "6");
  EXPECT_EQ(json_at(summary, "/clock"), R"({"aligned":true,"error_ns":0,"own":[]})");
}

TEST(Timeline, NamesInBlocks) {
  const trace::Trace trace = test::small_run();
  const Timeline timeline(trace);
  EXPECT_EQ(json_at(*timeline.names(0), ""),
            R"(["train.py(88): train","aten::linear","aten::mm","cudaLaunchKernel","gemm","Memcpy HtoD"])");
  EXPECT_EQ(timeline.names(1).error().text(), "There is no block 1 of names: this run has 1 of them.");
  EXPECT_FALSE(timeline.names(-1).ok());
}

TEST(Timeline, TilesShowTheLanesThatAreAskedFor) {
  const trace::Trace trace = test::small_run();
  const Timeline timeline(trace);
  const std::uint32_t lanes[] = {kStream, kMain};
  EXPECT_EQ(boxes_in(timeline.tiles(10, 0, lanes)),
            (Lines{"0/0 [29, 69) 3 x1, name 4, busy 255, family 0, flags 0",
                   "2/0 [0, 118) 5 x1, name 0, busy 255, family 8, flags 0",
                   "2/1 [9, 108) 0 x1, name 1, busy 255, family 6, flags 0",
                   "2/2 [19, 40) 1 x1, name 2, busy 255, family 6, flags 0",
                   "2/3 [21, 26) 2 x1, name 3, busy 255, family 10, flags 0"}));
  const std::uint32_t copies[] = {kCopies};
  EXPECT_EQ(boxes_in(timeline.tiles(10, 0, copies)),
            (Lines{"1/0 [58, 69) 4 x1, name 5, busy 255, family 4, flags 0"}));
  EXPECT_EQ(boxes_in(timeline.tiles(14, 0, copies)),
            (Lines{"1/0 [3, 4) 4 x1, name 5, busy 156, family 4, flags 0"}));  // 10,000 of 16,384 ns
  EXPECT_EQ(boxes_in(timeline.tiles(10, 1, lanes)), Lines{});
  // Tile 100 of level 0: from 51,200 ns on.
  EXPECT_EQ(boxes_in(timeline.tiles(0, 100, lanes)),
            (Lines{"0/0 [0, 512) 3 x1, name 4, busy 255, family 0, flags 3",
                   "2/0 [0, 512) 5 x1, name 0, busy 255, family 8, flags 3",
                   "2/1 [0, 512) 0 x1, name 1, busy 255, family 6, flags 3"}));
}

TEST(Timeline, EventsThatOverlapGetRowsOfTheirOwn) {
  // A nested pair, and one that begins inside and ends behind both; on a stream three at once, then one.
  const trace::Trace trace = open_events(R"(
{"ph":"X","cat":"cpu_op","name":"a","pid":5,"tid":5,"ts":0,"dur":100},
{"ph":"X","cat":"cpu_op","name":"b","pid":5,"tid":5,"ts":10,"dur":50},
{"ph":"X","cat":"cpu_op","name":"c","pid":5,"tid":5,"ts":50,"dur":100},
{"ph":"X","cat":"kernel","name":"k1","pid":0,"tid":7,"ts":0,"dur":30,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"k2","pid":0,"tid":7,"ts":10,"dur":30,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"k3","pid":0,"tid":7,"ts":20,"dur":30,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"k4","pid":0,"tid":7,"ts":35,"dur":30,"args":{"device":0,"stream":7}})");
  const Timeline timeline(trace);
  const std::uint32_t both[] = {0, 1};
  const auto place = [](const std::string& line) { return line.substr(0, line.find(" x")); };
  Lines places;
  for (const std::string& line : boxes_in(timeline.tiles(10, 0, both))) places.push_back(place(line));
  EXPECT_EQ(places, (Lines{"0/0 [0, 30) 3", "0/0 [34, 64) 6", "0/1 [9, 40) 4", "0/2 [19, 49) 5",
                           "1/0 [0, 98) 0", "1/1 [9, 59) 1", "1/2 [48, 147) 2"}));
}

TEST(Timeline, RangesProjectedOntoAStreamLieBelowItsWork) {
  const trace::Trace trace = open_events(R"(
{"ph":"X","cat":"gpu_user_annotation","name":"part","pid":0,"tid":7,"ts":0,"dur":50},
{"ph":"X","cat":"kernel","name":"k1","pid":0,"tid":7,"ts":10,"dur":30,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"k2","pid":0,"tid":7,"ts":60,"dur":30,"args":{"device":0,"stream":7}})");
  const Timeline timeline(trace);
  EXPECT_EQ(json_at(*timeline.event(0, 0), "/row"), "1");
  EXPECT_EQ(json_at(*timeline.event(0, 1), "/row"), "0");
  EXPECT_EQ(json_at(*timeline.event(0, 2), "/row"), "0");
}

TEST(Timeline, TitlesSayWhatTheFileSays) {
  const trace::Trace trace = open_events(R"J(
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10,"dur":30,"args":{"device":0,"stream":7}},
{"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7 "}},
{"ph":"X","cat":"cpu_op","name":"a","pid":5,"tid":5,"ts":0,"dur":100},
{"ph":"M","name":"thread_name","pid":5,"tid":5,"args":{"name":"thread 5 (python)"}},
{"ph":"X","cat":"cpu_op","name":"a","pid":5,"tid":6,"ts":0,"dur":50},
{"ph":"M","name":"thread_name","pid":5,"tid":6,"args":{"name":"watcher"}},
{"ph":"X","cat":"cpu_op","name":"a","pid":6,"tid":9,"ts":0,"dur":50},
{"ph":"M","name":"process_name","pid":6,"tid":0,"args":{"name":"helper"}},
{"ph":"X","cat":"Trace","name":"a","pid":"Spans","tid":"PyTorch Profiler","ts":0,"dur":50})J");
  const std::string summary = Timeline(trace).summary();
  EXPECT_EQ(each(summary, "/lanes", "name"),
            (Lines{R"("stream 7")", R"("main")", R"("watcher")", R"("thread 9")", R"("PyTorch Profiler")"}));
  EXPECT_EQ(each(summary, "/lanes", "title"),
            (Lines{R"("GPU 0 stream 7")", R"J("thread 5 (python)")J", R"J("thread 6 (watcher)")J",
                   R"J("thread 9 of process 6 (helper)")J", R"("PyTorch Profiler of process Spans")"}));
}

TEST(Timeline, DeeperRangesThanThereAreRowsAreCountedNotDrawn) {
  std::string events;
  for (int i = 0; i < 130; ++i)
    events += fmt::format(R"({}{{"ph":"X","cat":"cpu_op","name":"n{}","pid":5,"tid":5,"ts":{},"dur":{}}})",
                          i == 0 ? "" : ",", i, i, 1'000 - 2 * i);
  const trace::Trace trace = open_events(events);
  const Timeline timeline(trace);
  EXPECT_EQ(json_at(timeline.summary(), "/lanes/0/rows"), "128");
  EXPECT_EQ(json_at(timeline.summary(), "/lanes/0/events"), "128");
  EXPECT_EQ(json_at(timeline.summary(), "/lanes/0/hidden"), "2");
  EXPECT_EQ(json_at(*timeline.event(0, 127), "/row"), "127");
  EXPECT_EQ(json_at(*timeline.event(0, 128), "/row"), "null");
  EXPECT_EQ(json_at(*timeline.event(0, 128), "/parent"), "127");
  EXPECT_EQ(json_at(*timeline.search({.text = "n129", .after = {}, .before = {}}), "/total"), "1");
}

TEST(Timeline, ThreadsOfOneNumberInTwoProcessesHaveKeysOfTheirOwn) {
  const trace::Trace trace = open_events(R"(
{"ph":"X","cat":"cpu_op","name":"a","pid":5,"tid":5,"ts":0,"dur":100},
{"ph":"X","cat":"cpu_op","name":"b","pid":6,"tid":5,"ts":10,"dur":50},
{"ph":"M","name":"process_name","pid":6,"tid":0,"args":{"name":"DataLoader worker 3"}},
{"ph":"X","cat":"cpu_op","name":"autograd::engine::evaluate_function: N","pid":5,"tid":9,"ts":10,"dur":50},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":5,"tid":9,"ts":20,"dur":10})");
  const Timeline timeline(trace);
  const std::string summary = timeline.summary();
  EXPECT_EQ(each(summary, "/lanes", "key"), (Lines{R"("r0/t5")", R"("r0/t9")", R"("r0/p6t5")"}));
  EXPECT_EQ(each(summary, "/lanes", "name"),
            (Lines{R"("main")", R"("autograd")", R"("DataLoader worker 3")"}));
  EXPECT_EQ(each(summary, "/lanes", "role"), (Lines{R"("main")", R"("autograd")", R"("loader")"}));
  const std::uint32_t autograd[] = {1};
  EXPECT_EQ(boxes_in(timeline.tiles(10, 0, autograd)).back(),
            "1/1 [19, 30) 4 x1, name 2, busy 255, family 7, flags 0")
      << "an operator of the backward pass";
}

TEST(Timeline, WhatWaitsIsMarked) {
  const trace::Trace trace = open_events(
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":5,"tid":5,"ts":0,"dur":100})");
  const std::uint32_t lane[] = {0};
  EXPECT_EQ(boxes_in(Timeline(trace).tiles(10, 0, lane)),
            Lines{"0/0 [0, 98) 0 x1, name 0, busy 255, family 11, flags 4"});
}

TEST(Timeline, StepsOfTheRun) {
  const trace::Trace trace = open_events(R"(
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#4","pid":5,"tid":5,"ts":100,"dur":50},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#5","pid":5,"tid":5,"ts":160,"dur":50})");
  EXPECT_EQ(
      json_at(Timeline(trace).summary(), "/steps"),
      R"([{"rank":0,"number":4,"start":0,"end":50000},{"rank":0,"number":5,"start":60000,"end":110000}])");
}

}  // namespace
}  // namespace stepscope::lanes
