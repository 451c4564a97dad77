// Searches, events and areas of made runs, counted by hand.
#include <gtest/gtest.h>

#include "lanes/small_run_for_test.h"
#include "lanes/tile_for_test.h"

namespace stepscope::lanes {
namespace {

using Lines = std::vector<std::string>;
using test::cells;
using test::each;
using test::json_at;
using test::open_events;

std::string searched(const Timeline& timeline, std::string_view text, std::optional<Place> after = {},
                     std::optional<Place> before = {}) {
  const Result<std::string> answer = timeline.search({text, after, before});
  return answer ? *answer : answer.error().text();
}

TEST(TimelineSearch, NamesByTimeAndWhere) {
  const trace::Trace trace = test::small_run();
  const Timeline timeline(trace);
  const std::string found = searched(timeline, "MM");
  EXPECT_EQ(json_at(found, "/total"), "2");
  EXPECT_EQ(
      json_at(found, "/names"),
      R"([{"name":"gemm","id":4,"count":1,"time":40000},{"name":"aten::mm","id":2,"count":1,"time":20000}])");
  EXPECT_EQ(json_at(found, "/density/85"), "1");   // 20 of 120 µs × 512
  EXPECT_EQ(json_at(found, "/density/128"), "1");  // 30 of 120 µs
  EXPECT_EQ(json_at(found, "/density/84"), "0");
  EXPECT_EQ(each(found, "/density", "").size(), 512U);
}

TEST(TimelineSearch, WordsRestrict) {
  const trace::Trace trace = test::small_run();
  const Timeline timeline(trace);
  const auto names = [&](std::string_view text) { return each(searched(timeline, text), "/names", "name"); };
  EXPECT_EQ(names("kind:kernel"), Lines{R"("gemm")"});
  EXPECT_EQ(names("kind:kernel kind:memcpy"), (Lines{R"("gemm")", R"("Memcpy HtoD")"}));
  EXPECT_EQ(names("mm kind:op"), Lines{R"("aten::mm")"});
  EXPECT_EQ(names("dur>30us"), (Lines{R"("train.py(88): train")", R"("aten::linear")", R"("gemm")"}));
  EXPECT_EQ(names("dur<0.01ms"), Lines{R"("cudaLaunchKernel")"});
  EXPECT_EQ(names("memcpy   htod"), Lines{R"("Memcpy HtoD")"});
  EXPECT_EQ(names("rank:0 linear"), Lines{R"("aten::linear")"});
  EXPECT_EQ(names("rank:1"), Lines{});
  EXPECT_EQ(searched(timeline, "kind:tensor"),
            "No event is of that kind: tensor. Kinds are op, kernel, python and others.");
  EXPECT_EQ(searched(timeline, "dur>much"), "This is not a time such as 1.5ms: much.");
  EXPECT_EQ(searched(timeline, "rank:x"), "This is not a rank's number: x.");
  EXPECT_EQ(searched(timeline, std::string(201, 'a')), "A search has at most 200 bytes.");
}

TEST(TimelineSearch, TheNextHitByTimeThenLaneThenRow) {
  // Two lanes; on the second, three ranges begin together.
  const trace::Trace trace = open_events(R"(
{"ph":"X","cat":"cpu_op","name":"n","pid":5,"tid":5,"ts":0,"dur":90},
{"ph":"X","cat":"cpu_op","name":"n","pid":5,"tid":6,"ts":0,"dur":80},
{"ph":"X","cat":"cpu_op","name":"n","pid":5,"tid":6,"ts":0,"dur":70},
{"ph":"X","cat":"cpu_op","name":"n","pid":5,"tid":6,"ts":10,"dur":5})");
  const Timeline timeline(trace);
  Lines ids;
  std::optional<Place> at = Place{-1, 0, 0};
  for (int i = 0; i < 5; ++i) {
    const std::string hit = json_at(searched(timeline, "n", at), "/hit");
    if (hit == "null") break;
    ids.push_back(json_at(hit, "/id"));
    at = Place{std::stoll(json_at(hit, "/start")),
               static_cast<std::uint32_t>(std::stoul(json_at(hit, "/lane"))),
               static_cast<std::uint32_t>(std::stoul(json_at(hit, "/row")))};
  }
  EXPECT_EQ(ids, (Lines{"0", "1", "2", "3"}));
  EXPECT_EQ(json_at(searched(timeline, "n", {}, at), "/hit/id"), "2");
  EXPECT_EQ(json_at(searched(timeline, "n", {}, Place{0, 0, 0}), "/hit"), "null");
  EXPECT_EQ(searched(timeline, "n", at, at),
            "Ask for the hit after a place or for the one before it, not for both.");
}

TEST(TimelineEvent, ADeviceEvent) {
  const trace::Trace trace = test::small_run();
  EXPECT_EQ(
      json_at(*Timeline(trace).event(0, 3), ""),
      R"({"rank":0,"id":3,"lane":0,"row":0,"name":"gemm","kind":"kernel","category":"kernel","start":30000,)"
      R"("end":70000,"step":null,"parent":null,"previous":null,"next":null,)"
      R"("args":[["device",0],["stream",7],["correlation",1]],)"
      R"("stack":[{"name":"train","file":"train.py","line":88}],)"
      R"("links":[{"what":"launched by","rank":0,"id":2,"lane":2,"row":3,"name":"cudaLaunchKernel","start":22000,)"
      R"("end":26000},{"what":"op","rank":0,"id":1,"lane":2,"row":2,"name":"aten::mm","start":20000,"end":40000}],)"
      R"("more_links":0})");
}

TEST(TimelineEvent, AHostEvent) {
  const trace::Trace trace = test::small_run();
  const std::string event = *Timeline(trace).event(0, 1);
  EXPECT_EQ(json_at(event, "/parent"), "0");
  EXPECT_EQ(json_at(event, "/args"), R"([["External id",2],["Input Dims","[[4,4],[4,4]]"]])");
  EXPECT_EQ(each(event, "/links", "what"), Lines{R"("launches")"});
  EXPECT_EQ(each(event, "/links", "id"), Lines{"3"});
}

TEST(TimelineEvent, NeighboursInItsRowAndItsStep) {
  const trace::Trace trace = open_events(R"(
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#4","pid":5,"tid":5,"ts":0,"dur":90},
{"ph":"X","cat":"cpu_op","name":"a","pid":5,"tid":5,"ts":10,"dur":10},
{"ph":"X","cat":"cpu_op","name":"b","pid":5,"tid":5,"ts":20,"dur":10},
{"ph":"X","cat":"cpu_op","name":"c","pid":5,"tid":5,"ts":40,"dur":10,"args":{"Addr":140000000000000000,"x":1.5}})");
  const Timeline timeline(trace);
  EXPECT_EQ(json_at(*timeline.event(0, 2), "/previous"), "1");
  EXPECT_EQ(json_at(*timeline.event(0, 2), "/next"), "3");
  EXPECT_EQ(json_at(*timeline.event(0, 2), "/step"), "4");
  EXPECT_EQ(json_at(*timeline.event(0, 3), "/next"), "null");
  EXPECT_EQ(json_at(*timeline.event(0, 3), "/args"), R"([["Addr","140000000000000000"],["x",1.5]])")
      << "JavaScript would round it";
}

TEST(TimelineEvent, ForwardBackwardAndFlows) {
  const trace::Trace trace = open_events(R"(
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":5,"tid":5,"ts":0,"dur":10,"args":{"Sequence number":12}},
{"ph":"X","cat":"cpu_op","name":"autograd::engine::evaluate_function: MmBackward0","pid":5,"tid":6,"ts":50,"dur":20,"args":{"Sequence number":12}},
{"ph":"X","cat":"cpu_op","name":"MmBackward0","pid":5,"tid":6,"ts":52,"dur":10,"args":{"Sequence number":12}},
{"ph":"X","cat":"cpu_op","name":"later","pid":5,"tid":5,"ts":80,"dur":10},
{"ph":"s","cat":"x","name":"x","id":7,"pid":5,"tid":5,"ts":1},
{"ph":"f","cat":"x","name":"x","id":7,"pid":5,"tid":5,"ts":81,"bp":"e"})");
  const Timeline timeline(trace);
  const auto links = [&](std::int64_t id) {
    const std::string event = *timeline.event(0, id);
    const Lines what = each(event, "/links", "what"), to = each(event, "/links", "id");
    Lines out;
    for (std::size_t i = 0; i < what.size(); ++i) out.push_back(what[i] + " " + to[i]);
    return out;
  };
  EXPECT_EQ(links(0), (Lines{R"("backward" 1)", R"("flow" 3)"}));
  EXPECT_EQ(links(1), Lines{R"("forward" 0)"});
  EXPECT_EQ(links(2), Lines{R"("forward" 0)"}) << "inside the node";
  EXPECT_EQ(links(3), Lines{R"("flow" 0)"});
}

TEST(TimelineEvent, ARecordedCallStack) {
  const trace::Trace trace = open_events(
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":5,"tid":5,"ts":0,"dur":9,"args":{"Call stack":"model.py(3): forward;<built-in>;train.py(9): main"}})");
  EXPECT_EQ(
      json_at(*Timeline(trace).event(0, 0), "/stack"),
      R"([{"name":"forward","file":"model.py","line":3},{"name":"<built-in>","file":null,"line":null},{"name":"main","file":"train.py","line":9}])");
}

TEST(TimelineEvent, OfManyLinks500AreListed) {
  std::string events =
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":5,"tid":5,"ts":0,"dur":9,"args":{"correlation":1}})";
  for (int i = 0; i < 503; ++i)
    events += fmt::format(
        R"(,{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{},"dur":1,"args":{{"device":0,"stream":7,"correlation":1}}}})",
        20 + i);
  const trace::Trace trace = open_events(events);
  const std::string event = *Timeline(trace).event(0, 0);
  EXPECT_EQ(each(event, "/links", "id").size(), 500U);
  EXPECT_EQ(json_at(event, "/more_links"), "3");
}

TEST(TimelineArea, TimesByNameByKindAndByLane) {
  const trace::Trace trace = test::small_run();
  const std::uint32_t lanes[] = {0, 2, 2};
  const Result<report::Report> area = Timeline(trace).area(20'000, 60'000, lanes);
  ASSERT_TRUE(area.ok());
  const report::Table& names = area->tables[0];
  EXPECT_EQ(cells(names, "name"),
            (Lines{"train.py(88): train", "aten::linear", "gemm", "aten::mm", "cudaLaunchKernel"}));
  EXPECT_EQ(cells(names, "total"), (Lines{"40000", "40000", "30000", "20000", "4000"}));
  EXPECT_EQ(cells(names, "self"), (Lines{"0", "20000", "30000", "16000", "4000"}));
  EXPECT_EQ(cells(names, "mean"), (Lines{"120000", "100000", "40000", "20000", "4000"})) << "of whole events";
  EXPECT_EQ(cells(names, "share"), (Lines{"0.5", "0.5", "0.375", "0.25", "0.05"}));
  EXPECT_EQ(cells(area->tables[1], "kind"), (Lines{"host", "python", "compute", "runtime"}));
  EXPECT_EQ(cells(area->tables[1], "count"), (Lines{"2", "1", "1", "1"}));
  EXPECT_EQ(cells(area->tables[1], "time"), (Lines{"40000", "40000", "30000", "4000"}));
  EXPECT_EQ(cells(area->tables[2], "lane"), (Lines{"r0/d0s7", "r0/t5"}));
  EXPECT_EQ(cells(area->tables[2], "time"), (Lines{"30000", "40000"}));
  EXPECT_EQ(cells(area->tables[2], "share"), (Lines{"0.75", "1"}));
}

TEST(TimelineArea, EndsWithTheRun) {
  const trace::Trace trace = test::small_run();
  const std::uint32_t lane[] = {0};
  const Result<report::Report> area = Timeline(trace).area(0, 1'000'000'000'000, lane);
  EXPECT_EQ(cells(area->tables[0], "share"), Lines{"0.333333"}) << "40 of 120 µs";
}

TEST(TimelineArea, StatisticsOfOneName) {
  std::string events;
  for (int i = 1; i <= 20; ++i)
    events += fmt::format(R"({}{{"ph":"X","cat":"cpu_op","name":"a","pid":5,"tid":5,"ts":{},"dur":{}}})",
                          i == 1 ? "" : ",", 100 * i, i);
  const trace::Trace trace = open_events(events);
  const std::uint32_t lane[] = {0};
  const Result<report::Report> area = Timeline(trace).area(0, 10'000'000, lane);
  const report::Table& names = area->tables[0];
  EXPECT_EQ(cells(names, "count"), Lines{"20"});
  EXPECT_EQ(cells(names, "median"), Lines{"10000"});
  EXPECT_EQ(cells(names, "p95"), Lines{"19000"});
  EXPECT_EQ(cells(names, "max"), Lines{"20000"});
  EXPECT_EQ(cells(names, "mean"), Lines{"10500"});
}

}  // namespace
}  // namespace stepscope::lanes
