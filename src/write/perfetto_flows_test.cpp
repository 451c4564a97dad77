#include "write/perfetto_flows.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

#include "make_rank.h"

namespace stepscope::write {
namespace {

std::string slice(const std::string& name, int tid, int start, int duration) {
  return R"({"ph":"X","cat":"cpu_op","name":")" + name + R"(","pid":7,"tid":)" + std::to_string(tid) +
         R"(,"ts":)" + std::to_string(start) + R"(,"dur":)" + std::to_string(duration) + "},";
}

std::string flow(char phase, const std::string& category, int id, int tid, int time) {
  return R"({"ph":")" + std::string(1, phase) + R"(","cat":")" + category + R"(","name":"x","pid":7,"tid":)" +
         std::to_string(tid) + R"(,"id":)" + std::to_string(id) + R"(,"ts":)" + std::to_string(time) + "},";
}

struct Arrows {
  std::multiset<std::string> drawn;  ///< "from > to", as Perfetto draws them
  std::int64_t loose;
};

/// What Perfetto draws: the slices of an id, from the first one to the last one.
Arrows arrows_of(std::string events) {
  events.pop_back();
  const trace::Trace trace = test::open_events(events);
  const trace::Rank& rank = trace.ranks[0];
  const Flows flows = flows_of(rank, 1, [](std::int64_t time) { return time; });
  std::map<std::uint64_t, std::array<std::string, 2>> by_id;
  for (const FlowEnd& end : flows.ends) by_id[end.id][end.last] = trace.name(rank, end.row);
  Arrows arrows{{}, flows.loose};
  for (const auto& [id, names] : by_id) arrows.drawn.insert(names[0] + " > " + names[1]);
  EXPECT_EQ(flows.ends.size(), 2 * by_id.size());
  return arrows;
}

const std::string kSlices = slice("launch", 7, 0, 10) + slice("k1", 8, 20, 10) + slice("k2", 8, 40, 10) +
                            slice("again", 7, 60, 10) + slice("k3", 8, 80, 10);

TEST(PerfettoFlows, OneStartMayHaveSeveralEnds) {
  EXPECT_EQ(arrows_of(kSlices + flow('s', "ac2g", 5, 7, 1) + flow('f', "ac2g", 5, 8, 20) +
                      flow('f', "ac2g", 5, 8, 40))
                .drawn,
            (std::multiset<std::string>{"launch > k1", "launch > k2"}));
}

TEST(PerfettoFlows, AnIdMayBeUsedAgainAndByAnotherCategory) {
  EXPECT_EQ(arrows_of(kSlices + flow('f', "ac2g", 5, 8, 80) + flow('s', "ac2g", 5, 7, 60) +
                      flow('f', "ac2g", 5, 8, 20) + flow('s', "ac2g", 5, 7, 1) +
                      flow('s', "other", 5, 8, 40) + flow('f', "other", 5, 8, 80))
                .drawn,
            (std::multiset<std::string>{"launch > k1", "again > k3", "k2 > k3"}));
}

TEST(PerfettoFlows, AStepContinuesAnArrow) {
  EXPECT_EQ(arrows_of(kSlices + flow('s', "x", 1, 7, 1) + flow('t', "x", 1, 8, 20) + flow('f', "x", 1, 8, 40))
                .drawn,
            (std::multiset<std::string>{"launch > k1", "k1 > k2"}));
}

TEST(PerfettoFlows, EndsWhereNothingRunsAreCounted) {
  const Arrows arrows = arrows_of(kSlices + flow('s', "x", 1, 7, 1) + flow('s', "x", 1, 7, 15) +
                                  flow('f', "x", 1, 8, 20) + flow('f', "x", 2, 8, 40));
  EXPECT_TRUE(arrows.drawn.empty());  // the start at 15 lies outside any slice; id 2 has no start
  EXPECT_EQ(arrows.loose, 1);
}

TEST(PerfettoFlows, TheSliceMayHaveManyInside) {
  std::string events = slice("outer", 7, 0, 10'000) + slice("k1", 8, 9'900, 10);
  for (int i = 0; i < 3'000; ++i) events += slice("inner", 7, 1 + 3 * i, 1);
  EXPECT_EQ(arrows_of(events + flow('s', "x", 1, 7, 9'500) + flow('f', "x", 1, 8, 9'900)).drawn,
            (std::multiset<std::string>{"outer > k1"}));
}

TEST(PerfettoFlows, PerfettoDrawsFromTheSliceThatBeginsFirst) {
  EXPECT_EQ(arrows_of(slice("late", 7, 10, 10) + slice("early", 8, 5, 30) + flow('s', "x", 1, 7, 12) +
                      flow('f', "x", 1, 8, 14))
                .drawn,
            (std::multiset<std::string>{"early > late"}));
}

}  // namespace
}  // namespace stepscope::write
