// memory_diff over a small snapshot, counted by hand, and its sums over a long one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <numeric>
#include <random>

#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

std::string frames(const char* function) {
  return R"(, "frames": [{"name": ")" + std::string(function) +
         R"(", "filename": "/home/a/train.py", "line": 7}])";
}

std::string event(const char* action, int address, int size, const char* function) {
  return R"({"action": ")" + std::string(action) + R"(", "addr": )" + std::to_string(address) +
         R"(, "size": )" + std::to_string(size) + R"(, "stream": 0)" + frames(function) + "}";
}

std::string snapshot(const std::string& blocks, const std::string& events) {
  return R"({"segments": [{"device": 0, "address": 4096, "total_size": 1048576, "stream": 0,
    "segment_type": "small", "blocks": [)" +
         blocks + R"(]}], "device_traces": [[)" + events + "]]}";
}

std::string block(int address, int size, const char* state) {
  return R"({"address": )" + std::to_string(address) + R"(, "size": 1024, "requested_size": )" +
         std::to_string(size) + R"(, "state": ")" + state + R"("})";
}

// Old memory of 1,000 and 50 bytes. f keeps 300 and gives 200 back; g's 70 are freed after the peak.
std::string by_hand() {
  return snapshot(block(4096, 1000, "active_allocated") + "," + block(5120, 300, "active_allocated"),
                  event("alloc", 5120, 300, "f") + "," + event("free_completed", 9216, 50, "h") + "," +
                      event("alloc", 6144, 200, "f") + "," + event("free_completed", 6144, 200, "f") + "," +
                      event("alloc", 6144, 70, "g") + "," + event("free_completed", 6144, 70, "g"));
}

std::int64_t sum(const report::Table& table, const char* column) {
  const auto& values = std::get<report::Ints>(table.column(column)->values);
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

TEST(MemoryDiff, ByHand) {
  const trace::Trace trace = test::open_json(by_hand());
  const report::Report report = test::answer("memory_diff", trace);
  EXPECT_EQ(cells(report.tables[0], "instant"), (Cells{"from", "to"}));
  EXPECT_EQ(cells(report.tables[0], "event"), (Cells{"-1", "2"}));
  EXPECT_EQ(cells(report.tables[0], "requested"), (Cells{"1050", "1500"}));
  const report::Table& to_peak = report.tables[1];
  EXPECT_EQ(cells(to_peak, "place"), (Cells{"/home/a/train.py(7): f", "allocated before the recording"}));
  EXPECT_EQ(cells(to_peak, "change"), (Cells{"500", "-50"}));
  EXPECT_EQ(cells(to_peak, "from"), (Cells{"0", "1050"}));
  EXPECT_EQ(cells(to_peak, "to"), (Cells{"500", "1000"}));
  EXPECT_EQ(cells(to_peak, "kept_count"), (Cells{"2", "0"}));
  EXPECT_EQ(cells(to_peak, "freed"), (Cells{"0", "50"}));
  const report::Table to_end =
      test::answer("memory_diff", trace, test::params({{"until", "end"}, {"since", "0"}})).tables[1];
  EXPECT_EQ(cells(to_end, "place"),
            (Cells{"allocated before the recording", "/home/a/train.py(7): f", "/home/a/train.py(7): g"}));
  EXPECT_EQ(cells(to_end, "change"), (Cells{"-50", "0", "0"}));
  EXPECT_EQ(cells(to_end, "kept"), (Cells{"0", "0", "0"}));
  EXPECT_EQ(cells(to_end, "freed_count"), (Cells{"1", "0", "0"}));
  EXPECT_EQ(cells(to_end, "allocated"), (Cells{"0", "200", "70"}));
}

TEST(MemoryDiff, RefusesWhatIsNoPair) {
  const trace::Trace trace = test::open_json(by_hand());
  const report::Report backward = test::answer("memory_diff", trace, test::params({{"since", "end"}}));
  EXPECT_EQ(backward.tables[1].rows(), 0u);
  EXPECT_EQ(backward.notes.back(),
            "Device 0: end (event 5) is after peak (event 2). Give the earlier instant as --since.");
  const report::Report absent = test::answer("memory_diff", trace, test::params({{"until", "6"}}));
  EXPECT_EQ(absent.notes.back(),
            "Device 0 has no event 6: it has events 0 to 5, and the instants peak, start, end and oom.");
}

/// 20,000 random events of 40 places, with lost frees: the changes add up at any pair of instants.
TEST(MemoryDiff, ChangesAddUp) {
  std::mt19937_64 random(5);
  std::map<int, int> live;
  std::string events, blocks;
  for (int i = 0; i < 20'000; ++i) {
    const int address = 4096 + static_cast<int>(random() % 700) * 1024;
    const std::string function = "f" + std::to_string(random() % 40);
    const auto found = live.find(address);
    if (found != live.end() && random() % 50 != 0) {
      events += event("free_completed", address, found->second, function.c_str()) + ",";
      live.erase(found);
    } else {
      live[address] = static_cast<int>(random() % 900) + 1;
      events += event("alloc", address, live[address], function.c_str()) + ",";
    }
  }
  events.pop_back();
  for (const auto& [address, size] : live) blocks += block(address, size, "active_allocated") + ",";
  blocks.pop_back();
  const trace::Trace trace = test::open_json(snapshot(blocks, events));
  for (const auto& [from, to] :
       {std::pair("start", "peak"), std::pair("peak", "end"), std::pair("start", "end"),
        std::pair("5000", "12345"), std::pair("77", "77"), std::pair("-1", "0")}) {
    const report::Report report =
        test::answer("memory_diff", trace, test::params({{"since", from}, {"until", to}}));
    const auto& requested = std::get<report::Ints>(report.tables[0].column("requested")->values);
    const report::Table& places = report.tables[1];
    EXPECT_EQ(sum(places, "change"), requested[1] - requested[0]) << from << to;
    EXPECT_EQ(sum(places, "from"), requested[0]);
    EXPECT_EQ(sum(places, "to"), requested[1]);
    for (std::size_t row = 0; row < places.rows(); ++row) {
      const auto at = [&](const char* column) {
        return std::get<report::Ints>(places.column(column)->values)[row];
      };
      EXPECT_EQ(at("change"), at("kept") - at("freed")) << from << to;
      EXPECT_GE(at("allocated"), at("kept"));
      if (row > 0) {
        EXPECT_LE(std::abs(at("change")),
                  std::abs(std::get<report::Ints>(places.column("change")->values)[row - 1]));
      }
    }
  }
}

}  // namespace
}  // namespace stepscope
