#include "derive/nearest_above.h"

#include <gtest/gtest.h>

#include "make_rank.h"

namespace stepscope::derive {
namespace {

// a [0,100) holds b [10,90), c [20,80) and d [30,70); the asked property is that of a and c.
TEST(NearestAbove, ItselfAndAroundIt) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
    {"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 1, "ts": 10, "dur": 80},
    {"ph": "X", "cat": "cpu_op", "name": "c", "pid": 1, "tid": 1, "ts": 20, "dur": 60},
    {"ph": "X", "cat": "cpu_op", "name": "d", "pid": 1, "tid": 1, "ts": 30, "dur": 40},
    {"ph": "X", "cat": "cpu_op", "name": "e", "pid": 1, "tid": 1, "ts": 200, "dur": 1})J");
  const trace::Rank& rank = trace.ranks.front();
  const auto row_of = [&](std::string_view name) {
    trace::Row row = 0;
    while (trace.name(rank, row) != name) ++row;
    return row;
  };
  NearestAbove above(rank, [&](trace::Row row) { return row == row_of("a") || row == row_of("c"); });
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(above(row_of("d")), row_of("c"));
    EXPECT_EQ(above(row_of("c")), row_of("c"));
    EXPECT_EQ(above(row_of("b")), row_of("a"));
    EXPECT_EQ(above(row_of("e")), trace::kNoRow);
    EXPECT_EQ(above(trace::kNoRow), trace::kNoRow);
  }
}

}  // namespace
}  // namespace stepscope::derive
