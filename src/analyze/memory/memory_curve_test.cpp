// memory_curve over small snapshots, counted by hand.
#include "analyze/memory/memory_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;
constexpr std::size_t kPlaces = analyze::kCurvePlaces;

// The block at 4096 (1,000 bytes) is older than the events. 500 bytes wait for another stream when 2,000 are
// allocated; 300 are freed at once.
std::string snapshot(const std::string& of_events) {
  return R"J({"segments": [{"device": 0, "address": 4096, "total_size": 8192, "stream": 0,
    "segment_type": "small", "blocks": [
      {"address": 4096, "size": 1024, "requested_size": 1000, "state": "active_allocated"},
      {"address": 5120, "size": 2048, "requested_size": 2000, "state": "active_allocated"},
      {"address": 7168, "size": 5120, "requested_size": 1, "state": "inactive"}]}],
    "device_traces": [[)J" +
         of_events + "]]}";
}

std::string event(const char* action, int address, int size, int time = -1, const char* more = "") {
  std::string out = R"({"action": ")" + std::string(action) + R"(", "addr": )" + std::to_string(address) +
                    R"(, "size": )" + std::to_string(size) + R"(, "stream": 0)" + more;
  if (time >= 0) out += R"(, "time_us": )" + std::to_string(time);
  return out + "}";
}

std::string by_hand(bool times) {
  const auto at = [&](int time) { return times ? time : -1; };
  return event("alloc", 7168, 500, at(10)) + "," + event("free_requested", 7168, 500, at(12)) + "," +
         event("segment_alloc", 90000, 4096, at(13)) + "," + event("alloc", 5120, 2000, at(14)) + "," +
         event("free_completed", 7168, 500, at(15)) + "," + event("alloc", 7168, 300, at(16)) + "," +
         event("free_requested", 7168, 300, at(17)) + "," + event("free_completed", 7168, 300, at(18)) + "," +
         event("segment_free", 90000, 4096, at(19));
}

TEST(MemoryCurve, ByHand) {
  const report::Report report = test::answer("memory_curve", test::open_json(snapshot(by_hand(true))));
  ASSERT_EQ(report.tables.size(), 3u);
  const report::Table& curve = report.tables[0];
  EXPECT_EQ(cells(curve, "event"), (Cells{"-1", "0", "1", "2", "3", "4", "5", "6", "7", "8"}));
  EXPECT_EQ(cells(curve, "time"),
            (Cells{"0", "0", "2000", "3000", "4000", "5000", "6000", "7000", "8000", "9000"}));
  EXPECT_EQ(cells(curve, "requested"),
            (Cells{"1000", "1500", "1500", "1500", "3500", "3000", "3300", "3300", "3000", "3000"}));
  EXPECT_EQ(cells(curve, "reserved"),
            (Cells{"8192", "8192", "8192", "12288", "12288", "12288", "12288", "12288", "12288", "8192"}));
  EXPECT_EQ(cells(curve, "pending"), (Cells{"0", "0", "500", "500", "500", "0", "0", "0", "0", "0"}));
  EXPECT_EQ(cells(curve, "rounded"),
            (Cells{"1024", "1536", "1536", "1536", "3584", "3072", "3584", "3584", "3072", "3072"}));
}

std::string in(const std::string& function) {
  return R"(, "frames": [{"name": ")" + function + R"(", "filename": "/home/a/train.py", "line": 7}])";
}

// 1,000 bytes are older than the events. f and g allocate 500 and 2,000; an allocation of 9,000 fails.
TEST(MemoryCurve, ByPlace) {
  const std::string f = in("f"), g = in("g");
  const std::string events =
      event("alloc", 7168, 500, 10, f.c_str()) + "," + event("alloc", 5120, 2000, 11, g.c_str()) + "," +
      event("free_completed", 7168, 500, 12) + "," +
      R"({"action": "oom", "device_free": 70, "size": 9000, "stream": 0, "time_us": 13},)" +
      event("free_completed", 4096, 1000, 14);
  const report::Report report = test::answer("memory_curve", test::open_json(snapshot(events)));
  const report::Table& places = report.tables[1];
  const std::string old = "allocated before the recording", in_f = "/home/a/train.py(7): f",
                    in_g = "/home/a/train.py(7): g";
  EXPECT_EQ(cells(places, "place"), (Cells{in_g, in_g, in_g, in_g, in_g, in_g,  //
                                           old, old, old, old, old, old,        //
                                           in_f, in_f, in_f, in_f, in_f, in_f}));
  EXPECT_EQ(cells(places, "bytes"), (Cells{"0", "0", "2000", "2000", "2000", "2000",        //
                                           "2000", "2000", "2000", "2000", "2000", "1000",  //
                                           "0", "500", "500", "0", "0", "0"}));
  const report::Table& marks = report.tables[2];
  EXPECT_EQ(cells(marks, "instant"), (Cells{"peak", "oom"}));
  EXPECT_EQ(cells(marks, "event"), (Cells{"1", "2"}));
  EXPECT_EQ(cells(marks, "time"), (Cells{"1000", "2000"}));
  EXPECT_EQ(cells(marks, "requested"), (Cells{"4500", "4000"}));
  EXPECT_EQ(cells(marks, "asked"), (Cells{"-", "9000"}));
}

TEST(MemoryCurve, APartHasItsOwnPoints) {
  const trace::Trace trace = test::open_json(snapshot(by_hand(true)));
  const auto part = [&](const char* since, const char* until, const char* points) {
    return test::answer("memory_curve", trace,
                        test::params({{"since", since}, {"until", until}, {"points", points}}));
  };
  const report::Table curve = part("2", "6", "400").tables[0];
  EXPECT_EQ(cells(curve, "event"), (Cells{"2", "3", "4", "5", "6"}));
  EXPECT_EQ(cells(curve, "requested"), (Cells{"1500", "3500", "3000", "3300", "3300"}));
  EXPECT_EQ(cells(curve, "time"), (Cells{"3000", "4000", "5000", "6000", "7000"}));
  EXPECT_EQ(cells(part("6", "2", "400").tables[0], "event"), cells(curve, "event"));
  EXPECT_EQ(cells(part("5", "end", "1").tables[0], "event"), (Cells{"5", "7", "8"}));
  EXPECT_EQ(cells(part("4", "4", "400").tables[0], "event"), Cells{"4"});
  EXPECT_EQ(cells(part("2", "6", "400").tables[2], "event"), Cells{"3"});
  EXPECT_EQ(part("2", "9", "400").tables[0].rows(), 0u);
}

TEST(MemoryCurve, OverEventsWithoutTimes) {
  const report::Report report = test::answer("memory_curve", test::open_json(snapshot(by_hand(false))));
  EXPECT_EQ(cells(report.tables[0], "time")[3], "-");
  EXPECT_EQ(report.tables[0].column("event")->role, report::Role::key);
  EXPECT_EQ(report.tables[0].column("time")->role, report::Role::detail);
}

/// 5,000 random events of 30 places: what places hold adds up to what is requested, at each instant.
TEST(MemoryCurve, PlacesAddUp) {
  std::mt19937_64 random(7);
  std::map<int, int> live;
  std::string events;
  for (int i = 0; i < 5000; ++i) {
    const int address = 4096 + static_cast<int>(random() % 300) * 1024;
    const std::string function = in("f" + std::to_string(random() % 30));
    if (const auto found = live.find(address); found != live.end() && random() % 40 != 0) {
      events += event("free_completed", address, found->second, i) + ",";
      live.erase(found);
    } else {
      live[address] = static_cast<int>(random() % 900) + 1;
      events += event("alloc", address, live[address], i, function.c_str()) + ",";
    }
  }
  events.pop_back();
  const trace::Trace trace = test::open_json(snapshot(events));
  for (const char* by : {"function", "stack"}) {
    const report::Report report = test::answer("memory_curve", trace, test::params({{"by", by}}));
    const report::Table &curve = report.tables[0], &places = report.tables[1];
    EXPECT_EQ(places.rows(), curve.rows() * (kPlaces + 1)) << by;
    std::map<std::int64_t, std::int64_t> sums;
    const auto& at = std::get<report::Ints>(places.column("event")->values);
    const auto& bytes = std::get<report::Ints>(places.column("bytes")->values);
    for (std::size_t row = 0; row < at.size(); ++row) sums[at[row]] += bytes[row];
    std::size_t row = 0;
    for (const auto& [event, sum] : sums) {
      EXPECT_EQ(sum, std::get<report::Ints>(curve.column("requested")->values)[row++]) << by << event;
      EXPECT_EQ(std::ranges::count(at, event), static_cast<std::ptrdiff_t>(kPlaces + 1));
    }
  }
}

/// 3,000 allocations of changing sizes, freed in another order: few points, and no peak is lost.
TEST(MemoryCurve, ThinnedKeepsThePeaks) {
  std::string events;
  for (int i = 0; i < 3000; ++i) {
    const int address = 100'000 + i * 4096;
    events += event("alloc", address, 100 + i * 7919 % 4001, i * 10) + ",";
    if (i % 3 == 0 && i > 0) {
      const int of = i / 3;
      events += event("free_completed", 100'000 + of * 4096, 100 + of * 7919 % 4001, i * 10 + 5) + ",";
    }
    if (i == 1700) events += event("segment_alloc", 90, 8192) + "," + event("segment_free", 90, 8192) + ",";
  }
  for (int i = 2999; i > 999; --i)
    events += event("free_completed", 100'000 + i * 4096, 100 + i * 7919 % 4001) + ",";
  events.pop_back();
  const trace::Trace trace = test::open_json(snapshot(events));
  const report::Table summary = test::answer("memory_summary", trace).tables[0];
  for (const char* points : {"1", "20", "400", "100000"}) {
    const report::Table curve =
        test::answer("memory_curve", trace, test::params({{"points", points}})).tables[0];
    EXPECT_LE(curve.rows(), std::max<std::size_t>(7, std::stoul(points)));
    const auto most = [&](const char* level) {
      return std::to_string(std::ranges::max(std::get<report::Ints>(curve.column(level)->values)));
    };
    EXPECT_EQ(Cells{most("requested")}, cells(summary, "peak_requested")) << points;
    EXPECT_EQ(Cells{most("reserved")}, cells(summary, "peak_reserved")) << points;
    const Cells at = cells(curve, "event"), peak = cells(summary, "peak_event");
    EXPECT_EQ(std::ranges::count(at, peak[0]), 1) << points;
    EXPECT_EQ(at.front(), "-1");
    EXPECT_EQ(Cells{std::to_string(std::stoi(at.back()) + 1)}, cells(summary, "events"));
    EXPECT_EQ(cells(curve, "requested").back(), cells(summary, "end_requested")[0]);
  }
}

TEST(MemoryCurve, ByCategory) {
  const std::string events = event("alloc", 7168, 500, 1, R"(, "category": "activation")") + "," +
                             event("alloc", 9000, 200, 2, R"(, "category": "gradient")") + "," +
                             event("alloc", 9900, 90, 3, R"(, "category": "activation")") + "," +
                             event("alloc", 5120, 2000, 4);
  const report::Report report = test::answer("memory_curve", test::open_json(snapshot(events)));
  ASSERT_EQ(report.tables.size(), 4u);
  const report::Table& table = report.tables[3];
  EXPECT_EQ(cells(table, "category"),
            (Cells{"without a category", "allocated before the recording", "activation", "gradient"}));
  EXPECT_EQ(cells(table, "bytes"), (Cells{"2000", "1000", "590", "200"}));
  EXPECT_EQ(cells(table, "count"), (Cells{"1", "1", "2", "1"}));
}

}  // namespace
}  // namespace stepscope
