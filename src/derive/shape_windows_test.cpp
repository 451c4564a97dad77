#include "derive/shape_windows.h"

#include <gtest/gtest.h>

#include "make_program.h"

namespace stepscope {
namespace {

// aten::sub takes 10 with [2048, 1] and [2048] at 0, 20 with [4] and [4] at 100, and, outside of the window,
// 10 and 20 at 200 and 300: 60 of all calls, 30 of those with shapes. aten::item never has shapes.
std::string windowed(const char* cost) {
  test::EventText events;
  events.add("cpu_op", "aten::sub", 5, 5, 0, 10, R"("Input Dims": [[2048, 1], [2048], []])");
  events.add("cpu_op", "aten::sub", 5, 5, 100, 20, R"("Input Dims": [[4], [4], []])");
  events.add("cpu_op", "aten::sub", 5, 5, 200, 10);
  events.add("cpu_op", "aten::sub", 5, 5, 300, 20);
  events.add("cpu_op", "aten::item", 5, 5, 400, 10);
  events.add("user_annotation", "ProfilerStep#1", 5, 5, 0, 420);
  return std::string(R"({"schemaVersion": 1, "machineInfo": {"accelerators": 0}, "shapesCost": )") + cost +
         R"(, "traceEvents": [)" + events.text() + "]}";
}

TEST(ShapeWindows, SumsOfCallsWithShapesStandForAll) {
  const trace::Trace trace = test::open_json(windowed("0.07"));
  const trace::Rank& rank = trace.ranks[0];
  const derive::ShapeWindows windows(trace, rank, {0, 1'000'000});
  const trace::StringId sub = trace.strings.find("aten::sub"), item = trace.strings.find("aten::item");
  EXPECT_DOUBLE_EQ(windows.time_scale(sub), 2);
  EXPECT_DOUBLE_EQ(windows.call_scale(sub), 2);
  EXPECT_DOUBLE_EQ(windows.time_scale(item), 1);
  std::vector<bool> lacks;
  for (const trace::Row row : rank.host_rows())
    if (rank.events.kind[row] == trace::Kind::op) lacks.push_back(windows.lacks(row));
  EXPECT_EQ(lacks, (std::vector<bool>{false, false, true, true, false}));
  const derive::ShapeWindows first(trace, rank, {0, 250'000});
  EXPECT_DOUBLE_EQ(first.time_scale(sub), 40.0 / 30);
  EXPECT_DOUBLE_EQ(first.call_scale(sub), 1.5);
}

TEST(ShapeWindows, ShapesThatAreMissingOtherwise) {
  for (const char* cost : {"0", "-1", "7", "\"0.07\""}) {
    const trace::Trace trace = test::open_json(windowed(cost));
    const derive::ShapeWindows windows(trace, trace.ranks[0], {0, 1'000'000});
    EXPECT_DOUBLE_EQ(windows.time_scale(trace.strings.find("aten::sub")), 1) << cost;
    for (const trace::Row row : trace.ranks[0].host_rows()) EXPECT_FALSE(windows.lacks(row));
  }
}

TEST(ShapeWindows, OfCallsByShape) {
  const report::Report report = test::answer("lines", test::open_json(windowed("0.07")));
  const auto calls = std::find_if(report.tables.begin(), report.tables.end(),
                                  [](const report::Table& table) { return table.title == "Work by call"; });
  ASSERT_NE(calls, report.tables.end());
  EXPECT_EQ(test::cells(*calls, "inputs"), (test::Cells{"[[4], [4], []]", "[[2048, 1], [2048], []]", "-"}));
  EXPECT_EQ(test::cells(*calls, "calls"), (test::Cells{"2", "2", "1"}));
  EXPECT_EQ(test::cells(*calls, "forward"), (test::Cells{"40000", "20000", "10000"}));
}

}  // namespace
}  // namespace stepscope
