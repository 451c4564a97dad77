// What nobody should ask, and what no file should hold.
#include <gtest/gtest.h>

#include <limits>

#include "lanes/small_run_for_test.h"
#include "lanes/tile_for_test.h"

namespace stepscope::lanes {
namespace {

using test::boxes_in;
using test::json_at;

TEST(TimelineLimits, QuestionsThatMakeNoSenseGetASentence) {
  const trace::Trace trace = test::small_run();
  const Timeline timeline(trace);
  const std::vector<std::uint32_t> one = {0}, absent = {3}, many(257, 0);
  EXPECT_EQ(timeline.tiles(63, 0, one).error().text(), "A level is a number from 0 to 62.");
  EXPECT_EQ(timeline.tiles(-1, 0, one).error().text(), "A level is a number from 0 to 62.");
  EXPECT_EQ(timeline.tiles(0, -1, one).error().text(), "A tile is a number from 0 on.");
  EXPECT_EQ(timeline.tiles(0, 0, absent).error().text(), "There is no lane 3: this run has 3 of them.");
  EXPECT_EQ(timeline.tiles(0, 0, many).error().text(), "Ask for at most 256 lanes at once.");
  EXPECT_EQ(timeline.counters(0, 0, many).error().text(), "Ask for at most 256 counters at once.");
  EXPECT_EQ(timeline.area(5, 5, one).error().text(),
            "An area ends behind its begin, which is at 0 or later.");
  EXPECT_EQ(timeline.area(0, 5, many).error().text(), "Ask for at most 256 lanes at once.");
  EXPECT_EQ(timeline.event(0, 99).error().text(), "Rank 0 has no event 99.");
  EXPECT_EQ(timeline.event(7, 0).error().text(), "This run has no rank 7.");
}

TEST(TimelineLimits, AnyLevelAndAnyTileIsAnswered) {
  const trace::Trace trace = test::small_run();
  const Timeline timeline(trace);
  const std::uint32_t all[] = {0, 1, 2};
  const std::uint32_t busy[] = {0};
  for (int level = 0; level <= 62; ++level)
    for (const std::int64_t tile : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 40,
                                    std::numeric_limits<std::int64_t>::max()}) {
      const std::size_t boxes = boxes_in(timeline.tiles(level, tile, all)).size();
      if (level >= 8) {
        EXPECT_EQ(boxes, tile == 0 ? 6U : 0U);
      }
      EXPECT_LE(test::stretches_in(timeline.counters(level, tile, busy)).size(), 512U);
    }
}

TEST(TimelineLimits, ARunWithoutEvents) {
  trace::Trace trace;
  trace.ranks.emplace_back();
  const Timeline timeline(trace);
  EXPECT_EQ(json_at(timeline.summary(), "/lanes"), "[]");
  EXPECT_EQ(json_at(timeline.summary(), "/end"), "0");
  EXPECT_EQ(boxes_in(timeline.tiles(0, 0, {})), std::vector<std::string>{});
  EXPECT_EQ(json_at(*timeline.search({.text = "", .after = {}, .before = {}}), "/total"), "0");
  EXPECT_FALSE(timeline.names(0).ok());
  EXPECT_FALSE(timeline.event(0, 0).ok());
  EXPECT_TRUE(timeline.area(0, 1, {}).ok());
}

TEST(TimelineLimits, HostileNamesAreCutAndMadeSafe) {
  const std::string name = "a\\u0000\\u001b[31m\\u202eb\xff\\ud800\\nc" + std::string(1'000'000, 'x');
  const trace::Trace trace = test::open_events(
      R"({"ph":"X","cat":"cpu_op","pid":")" + name + R"(","tid":5,"ts":0,"dur":1,"name":")" + name +
      R"(","args":{")" + name + R"(":")" + name + R"("}},)" + R"({"ph":"M","name":"thread_name","pid":")" +
      name + R"(","tid":5,"args":{"name":")" + name + R"("}})");
  const Timeline timeline(trace);
  const std::uint32_t lane[] = {0};
  for (const std::string& answer :
       {timeline.summary(), *timeline.names(0), *timeline.event(0, 0),
        *timeline.search({.text = "x", .after = Place{-1, 0, 0}, .before = {}})}) {
    EXPECT_LT(answer.size(), 60'000U);
    EXPECT_EQ(answer.find("\\u00"), std::string::npos) << answer.substr(0, 300);
    EXPECT_EQ(answer.find("\u202e"), std::string::npos);
    EXPECT_FALSE(json_at(answer, "").starts_with("no JSON")) << answer.substr(0, 300);
  }
  EXPECT_EQ(timeline.area(0, 1'000, lane)->tables[0].rows(), 1U);
  EXPECT_LT(json_at(*timeline.names(0), "/0").size(), 2'010U);
}

TEST(TimelineLimits, ExtremeTimes) {
  const trace::Trace trace = test::open_json(
      R"({"schemaVersion":1,"baseTimeNanoseconds":4000000000000000000,"traceEvents":[)"
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":5,"tid":5,"ts":-3900000000000000,"dur":1},)"
      R"({"ph":"X","cat":"cpu_op","name":"b","pid":5,"tid":5,"ts":3900000000000000,"dur":3900000000000000},)"
      R"({"ph":"X","cat":"cpu_op","name":"c","pid":5,"tid":5,"ts":3900000000000000,"dur":99999999999999999999}]})");
  const Timeline timeline(trace);
  const std::uint32_t lane[] = {0};
  for (int level = 0; level <= 62; ++level) boxes_in(timeline.tiles(level, 0, lane));
  EXPECT_TRUE(timeline.area(0, std::int64_t{1} << 62, lane).ok());
  for (std::int64_t id = 0; id < 3; ++id) {
    const std::string event = *timeline.event(0, id);
    EXPECT_LE(std::stoll(json_at(event, "/start")), std::stoll(json_at(event, "/end"))) << id;
  }
}

TEST(TimelineLimits, OfManyTracksTheFullestAreLanes) {
  std::string events = R"({"ph":"X","cat":"cpu_op","name":"a","pid":5,"tid":99999,"ts":0,"dur":9},)"
                       R"({"ph":"X","cat":"cpu_op","name":"a","pid":5,"tid":99999,"ts":20,"dur":9})";
  for (int i = 0; i < 10'050; ++i)
    events += fmt::format(R"(,{{"ph":"X","cat":"cpu_op","name":"a","pid":5,"tid":{},"ts":0,"dur":1}})", i);
  const trace::Trace trace = test::open_events(events);
  const std::string summary = Timeline(trace).summary();
  EXPECT_EQ(json_at(summary, "/more_lanes"), "51");
  EXPECT_EQ(json_at(summary, "/lanes/9999/lane"), "9999");
  EXPECT_NE(summary.find(R"("r0/t99999")"), std::string::npos);
}

}  // namespace
}  // namespace stepscope::lanes
