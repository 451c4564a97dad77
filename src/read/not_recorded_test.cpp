#include "read/not_recorded.h"

#include <gtest/gtest.h>

namespace stepscope::read {
namespace {

trace::Trace of_ranks(std::initializer_list<std::int64_t> numbers) {
  trace::Trace trace;
  for (const std::int64_t number : numbers) {
    trace.ranks.emplace_back().rank = number;
    trace.ranks.back().metadata = {
        {"host_name", "\"a\""},
        {"stepscope.not_recorded", R"(["devices: no \"CUPTI\"", "calls"])"},
        {"stepscope.not_recorded.3", R"(["pinning"])"},
    };
  }
  return trace;
}

TEST(NotRecorded, IsSaidInNotes) {
  trace::Trace trace = of_ranks({0});
  note_not_recorded(trace);
  EXPECT_EQ(trace.notes, (std::vector<std::string>{"devices: no \"CUPTI\"", "calls", "pinning"}));
}

TEST(NotRecorded, NamesTheRankOfSeveral) {
  trace::Trace trace = of_ranks({0, 4});
  note_not_recorded(trace);
  ASSERT_EQ(trace.notes.size(), 6u);
  EXPECT_EQ(trace.notes[5], "Rank 4: pinning");
}

TEST(NotRecorded, IsSaidOnce) {
  trace::Trace trace = of_ranks({0});
  trace.ranks[0].metadata.emplace_back("stepscope.not_recorded.io of 7", R"(["calls"])");
  note_not_recorded(trace);
  EXPECT_EQ(trace.notes.size(), 3u);
}

TEST(NotRecorded, DamageIsNoNote) {
  trace::Trace trace = of_ranks({0});
  for (auto& [key, json] : trace.ranks[0].metadata) json = "7";
  note_not_recorded(trace);
  EXPECT_TRUE(trace.notes.empty());
}

}  // namespace
}  // namespace stepscope::read
