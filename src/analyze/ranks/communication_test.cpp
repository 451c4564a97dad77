// Waiting, transfer and rates of collectives of a few ranks, counted by hand.
#include <fmt/format.h>

#include <random>

#include "analyze/ranks/collective_sizes.h"
#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;

/// Device work of a rank, µs on its clock.
struct RankWork {
  int start, end;
  std::string collective = "";  ///< args of a collective; "": compute
  int stream = 8;
};

std::string allreduce(int sequence, int elements = 1'000'000, std::string_view ranks = "0, 1") {
  return fmt::format(
      R"("Collective name": "allreduce", "dtype": "Float", "In msg nelems": {0}, "Out msg nelems": {0}, "Group size": {1}, "Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": "[{2}]", "Seq": {3})",
      elements, std::count(ranks.begin(), ranks.end(), ',') + 1, ranks, sequence);
}

std::string rank_of(const std::vector<RankWork>& works) {
  std::string text;
  int id = 0;
  for (const RankWork& w : works) {
    text += fmt::format(
        R"({}{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": {}, "dur": 1, "args": {{"correlation": {}}}}},)",
        text.empty() ? "" : ",", 2 + 2 * id, id + 1);
    const bool compute = w.collective.empty();
    text += fmt::format(
        R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": {}, "ts": {}, "dur": {}, "args": {{"device": 0, "stream": {}, "correlation": {}{}{}}}}})",
        compute ? "k" : "ncclDevKernel_Generic", compute ? 7 : w.stream, w.start, w.end - w.start,
        compute ? 7 : w.stream, ++id, compute ? "" : ", ", w.collective);
  }
  return text;
}

const report::Table& table_of(const report::Report& report, std::string_view title) {
  static const report::Table none;
  for (const report::Table& table : report.tables)
    if (table.title == title) return table;
  ADD_FAILURE() << "no table " << title;
  return none;
}

// The gap between two all-reduces is 90 µs on rank 0 and 4,890 µs on rank 1, so no clock offset lets both
// ranks leave both together.
TEST(Communication, WhatContradictsIsSaid) {
  const trace::Trace trace =
      test::open_ranks({rank_of({{100, 110, allreduce(1)}, {200, 210, allreduce(2)}}),
                        rank_of({{100, 110, allreduce(1)}, {5000, 5010, allreduce(2)}})});
  const report::Report report = test::answer("communication", trace);
  EXPECT_EQ(test::cells(table_of(report, "Collectives across ranks"), "count"), Cells{});
  ASSERT_FALSE(report.notes.empty());
  EXPECT_EQ(report.notes[0],
            "2 matched collectives are left out: one rank would have ended before another began, so records "
            "are missing or matched wrongly (`clock_alignment`).");
}

// An all-reduce of 4 MB takes 200 µs on rank 0 and 60 µs on rank 1, which came last. Rank 0 computes until
// 200, rank 1 until 300. On rank 0 150 µs are exposed, 90 of them waiting.
TEST(Communication, TwoRanks) {
  const trace::Trace trace = test::open_ranks(
      {rank_of({{100, 200}, {150, 350, allreduce(1)}}), rank_of({{100, 300}, {290, 350, allreduce(1)}})});
  const report::Report report = test::answer("communication", trace);
  const report::Table& sizes = table_of(report, "Collectives across ranks");
  EXPECT_EQ(test::cells(sizes, "group"), Cells{"default_pg"});
  EXPECT_EQ(test::cells(sizes, "group_size"), Cells{"2"});
  EXPECT_EQ(test::cells(sizes, "span"), Cells{"-"});
  EXPECT_EQ(test::cells(sizes, "collective"), Cells{"all-reduce"});
  EXPECT_EQ(test::cells(sizes, "dtype"), Cells{"Float"});
  EXPECT_EQ(test::cells(sizes, "bytes"), Cells{"4000000"});
  EXPECT_EQ(test::cells(sizes, "count"), Cells{"1"});
  EXPECT_EQ(test::cells(sizes, "total"), Cells{"260000"});
  EXPECT_EQ(test::cells(sizes, "skew_max"), Cells{"140000"});
  EXPECT_EQ(test::cells(sizes, "skew_by"), Cells{"durations"});
  EXPECT_EQ(test::cells(sizes, "wait"), Cells{"140000"});
  EXPECT_EQ(test::cells(sizes, "transfer"), Cells{"60000"});
  EXPECT_EQ(test::cells(sizes, "alg_rate"), Cells{"6.66667e+10"});  // 4 MB / 60 µs
  EXPECT_EQ(test::cells(sizes, "bus_rate"), Cells{"6.66667e+10"});  // × 2 × 1/2
  EXPECT_EQ(test::cells(sizes, "of_best"), Cells{"-"});             // no message of 16 MiB
  const report::Table& ranks = table_of(report, "Exposed communication");
  EXPECT_EQ(test::cells(ranks, "communication"), (Cells{"200000", "60000"}));
  EXPECT_EQ(test::cells(ranks, "exposed"), (Cells{"150000", "50000"}));
  EXPECT_EQ(test::cells(ranks, "exposed_wait"), (Cells{"90000", "0"}));
  EXPECT_EQ(test::cells(ranks, "exposed_transfer"), (Cells{"60000", "50000"}));
  EXPECT_EQ(test::cells(ranks, "overlap"), (Cells{"0.25", "0.166667"}));
  EXPECT_EQ(test::cells(ranks, "transfer_overlap"), (Cells{"0", "0.166667"}));
}

// Ten small all-reduces show that rank 1's clock is 5 ms ahead. In the broadcast from rank 1, rank 0 waits 80
// µs for it and rank 2 waits 30; rank 1 leaves at once.
TEST(Communication, ABroadcastWaitsForItsRoot) {
  const std::string broadcast =
      R"("Collective name": "broadcast", "dtype": "Byte", "In msg nelems": 3000000, "Out msg nelems": 3000000, "Group size": 3, "Process Group Name": "0", "Process Group Ranks": "[0, 1, 2]", "Rank": 1, "Seq": 99)";
  std::vector<RankWork> works[3];
  for (int rank = 0; rank < 3; ++rank) {
    const int ahead = rank == 1 ? 5'000 : 0;
    for (int i = 0; i < 10; ++i)
      works[rank].push_back({10'000 + 1'000 * i + 7 * rank + ahead, 10'100 + 1'000 * i + ahead,
                             allreduce(i, 1'000, "0, 1, 2")});
    constexpr int kFrom[] = {20'100, 20'180, 20'150}, kTo[] = {20'260, 20'190, 20'265};
    works[rank].push_back({kFrom[rank] + ahead, kTo[rank] + ahead, broadcast});
  }
  const trace::Trace trace = test::open_ranks({rank_of(works[0]), rank_of(works[1]), rank_of(works[2])});
  const report::Table table = table_of(test::answer("communication", trace), "Collectives across ranks");
  EXPECT_EQ(test::cells(table, "collective"), (Cells{"all-reduce", "broadcast"}));
  EXPECT_EQ(test::cells(table, "skew_by"), (Cells{"clocks", "clocks"}));
  EXPECT_EQ(test::cells(table, "skew_p50"), (Cells{"14000", "80000"}));
  EXPECT_EQ(test::cells(table, "wait"), (Cells{"210000", "110000"}));        // 10 × (14 + 7), 80 + 30
  EXPECT_EQ(test::cells(table, "transfer_p50"), (Cells{"86000", "80000"}));  // of 80, 10 and 85
  EXPECT_EQ(test::cells(table, "bus_rate"), (Cells{"6.20155e+07", "3.75e+10"}));
}

// Waits are not known if the root is not recorded, nor if only one rank is open.
TEST(Communication, WhatIsNotKnownIsEmpty) {
  const std::string broadcast =
      R"("Collective name": "broadcast", "dtype": "Byte", "In msg nelems": 9, "Group size": 2, "Process Group Name": "0", "Process Group Ranks": "[0, 1]", "Seq": 1)";
  const std::string one = rank_of({{100, 200}, {150, 350, broadcast}, {400, 460, allreduce(2)}});
  const report::Report both =
      test::answer("communication", test::open_ranks({one, rank_of({{150, 340, broadcast}})}));
  const report::Table& sizes = table_of(both, "Collectives across ranks");
  EXPECT_EQ(test::cells(sizes, "total"), Cells{"390000"});
  EXPECT_EQ(test::cells(sizes, "skew_max"), Cells{"-"});
  EXPECT_EQ(test::cells(sizes, "wait"), Cells{"-"});
  EXPECT_EQ(test::cells(sizes, "transfer"), Cells{"-"});
  EXPECT_EQ(test::cells(sizes, "no_rate"), Cells{"transfer not known"});
  const report::Table& ranks = table_of(both, "Exposed communication");
  EXPECT_EQ(test::cells(ranks, "exposed"), (Cells{"210000", "190000"}));
  EXPECT_EQ(test::cells(ranks, "exposed_wait"), (Cells{"-", "-"}));
  EXPECT_EQ(test::cells(ranks, "unknown"), (Cells{"210000", "190000"}));
  const report::Report alone = test::answer("communication", test::open_events(one));
  EXPECT_EQ(test::cells(table_of(alone, "Exposed communication"), "exposed"), Cells{"210000"});
  EXPECT_EQ(test::cells(table_of(alone, "Exposed communication"), "exposed_transfer"), Cells{"-"});
}

// One collective is issued in a module's forward, one by its backward operator, one outside. Step marks and
// ranges that only communicate are not places.
TEST(Communication, ByModule) {
  const auto range = [](const char* category, const char* name, int tid, int from, int length,
                        const char* args = "") {
    return fmt::format(
        R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 5, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}},)",
        category, name, tid, from, length, args);
  };
  const auto issued = [&](int tid, int from, int id, int start) {
    return range("cpu_op", "c10d::allreduce_", tid, from, 6) +
           range("user_annotation", "nccl:all_reduce", tid, from + 1, 4) +
           range("cuda_runtime", "cudaLaunchKernel", tid, from + 2, 2,
                 fmt::format("\"correlation\": {}", id).c_str()) +
           fmt::format(
               R"({{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 8, "ts": {}, "dur": {}, "args": {{"device": 0, "stream": 8, "correlation": {}, {}}}}},)",
               start, 10 * id, id, allreduce(id));
  };
  std::string text = range("user_annotation", "ProfilerStep#3", 5, 0, 400) +
                     range("python_function", "nn.Module: Net_0", 5, 1, 90) +
                     range("python_function", "nn.Module: Linear_0", 5, 2, 40) +
                     range("cpu_op", "aten::linear", 5, 3, 5, R"("Sequence number": 7)") +
                     issued(5, 20, 1, 500) +
                     range("cpu_op", "autograd::engine::evaluate_function: LinearBackward0", 6, 100, 30,
                           R"("Sequence number": 7, "Fwd thread id": 1)") +
                     issued(6, 110, 2, 600) + range("cpu_op", "Optimizer.step#SGD.step", 5, 200, 60) +
                     issued(5, 220, 3, 700);
  text.pop_back();
  const report::Report report = test::answer("communication", test::open_ranks({text, text}));
  const report::Table& places = table_of(report, "Exposed communication by module");
  EXPECT_EQ(test::cells(places, "issued_by"),
            (Cells{"Optimizer.step#SGD.step", "Net_0/Linear_0", "Net_0/Linear_0"}));
  EXPECT_EQ(test::cells(places, "kind"), (Cells{"operator", "module, backward", "module"}));
  EXPECT_EQ(test::cells(places, "collectives"), (Cells{"2", "2", "2"}));
  EXPECT_EQ(test::cells(places, "exposed"), (Cells{"60000", "40000", "20000"}));
  EXPECT_EQ(test::cells(places, "exposed_transfer"), (Cells{"60000", "40000", "20000"}));
}

// In any job, exposed time is communication without compute. It equals wait plus transfer, and the sum over
// places.
TEST(Communication, ExposedIsWaitAndTransfer) {
  std::mt19937 random(5);
  const auto number = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
  for (int round = 0; round < 40; ++round) {
    std::vector<RankWork> works[3];
    const int collectives = number(1, 12);
    for (auto& of_rank : works)
      for (int at = 200, i = number(1, 15); i > 0; --i, at += number(0, 90)) {
        const int from = at;
        of_rank.push_back({from, at += number(1, 120)});
      }
    for (int i = 0; i < collectives; ++i)
      for (int rank = 0; rank < 3; ++rank) {
        if (number(0, 9) == 0) continue;
        const int end = 300 + 80 * i + number(0, 3);
        works[rank].push_back({end - number(5, 150), end, allreduce(i, 1'000, "0, 1, 2"), 20 + i % 3});
      }
    const trace::Trace trace = test::open_ranks({rank_of(works[0]), rank_of(works[1]), rank_of(works[2])});
    const report::Report report = test::answer("communication", trace);
    std::int64_t by_ranks = 0, by_places = 0;
    const report::Table &ranks = table_of(report, "Exposed communication"),
                        &places = table_of(report, "Exposed communication by module");
    const auto ints = [](const report::Table& table, const char* column) {
      return std::get<report::Ints>(table.column(column)->values);
    };
    const report::Ints exposed = ints(ranks, "exposed"), wait = ints(ranks, "exposed_wait"),
                       transfer = ints(ranks, "exposed_transfer"), whose = ints(ranks, "rank");
    for (std::size_t r = 0; r < exposed.size(); ++r) {
      by_ranks += exposed[r];
      if (wait[r] != report::kNoInt) {
        EXPECT_EQ(wait[r] + transfer[r], exposed[r]);
      }
      Column<timeline::Interval> compute, communication;
      for (const RankWork& w : works[whose[r]])
        (w.collective.empty() ? compute : communication).push_back({w.start * 1'000, w.end * 1'000});
      EXPECT_EQ(exposed[r], subtract(timeline::IntervalSet::of(std::move(communication)),
                                     timeline::IntervalSet::of(std::move(compute)))
                                .length());
    }
    for (const std::int64_t time : ints(places, "exposed")) by_places += time;
    EXPECT_EQ(by_places, by_ranks);
    const report::Table& sizes = table_of(report, "Collectives across ranks");
    for (std::size_t i = 0; i < sizes.rows(); ++i) {
      const std::int64_t count = ints(sizes, "count")[i], total = ints(sizes, "total")[i];
      EXPECT_LE(2 * ints(sizes, "transfer")[i], total);
      EXPECT_GE(3 * ints(sizes, "transfer")[i] + ints(sizes, "wait")[i], total);
      EXPECT_GT(count, 0);
    }
  }
}

analyze::MatchedCollective moved(std::int64_t bytes, timeline::Time transfer) {
  analyze::MatchedCollective c{"default_pg",
                               2,
                               analyze::Span::one_host,
                               derive::Exchange::all_reduce,
                               "Float",
                               bytes,
                               0,
                               transfer,
                               {},
                               false,
                               true};
  c.time.transfer = transfer;
  return c;
}

// Latency 10 µs, rate 100 bytes/ns; one of the three collectives of a size is disturbed.
TEST(Communication, LatencyAndRate) {
  std::vector<analyze::MatchedCollective> all;
  for (const std::int64_t bytes : {1'000'000, 4'000'000, 16'000'000})
    for (const int late : {0, 90'000, 0}) all.push_back(moved(bytes, 10'000 + bytes / 100 + late));
  EXPECT_TRUE(link_lines(all).empty());  // three sizes
  all.push_back(moved(64'000'000, 650'000));
  const std::vector<analyze::LinkLine> lines = link_lines(all);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].exchange, derive::Exchange::all_reduce);
  EXPECT_EQ(lines[0].sizes, 4);
  EXPECT_EQ(lines[0].count, 10);
  EXPECT_EQ(lines[0].latency, 10'000);
  EXPECT_DOUBLE_EQ(lines[0].bus_rate, 1e11);
  EXPECT_NEAR(lines[0].off_p50, 0, 1e-9);
  all.clear();
  for (const std::int64_t bytes : {4'000'000, 16'000'000, 32'000'000, 63'000'000})
    all.push_back(moved(bytes, bytes / 100));
  EXPECT_TRUE(link_lines(all).empty());  // less than a factor of 16
}

// A rate is total bytes / total time. The best rate comes from large messages. Collectives that are too short
// have no rate.
TEST(Communication, Rates) {
  std::vector<analyze::MatchedCollective> all = {moved(20'000'000, 200'000), moved(20'000'000, 300'000),
                                                 moved(1'000'000, 20'000), moved(64, 1'000)};
  all.back().too_short = true;
  const report::Table table = tabulate(analyze::kMatchedSizeSheet, matched_sizes(all), true);
  EXPECT_EQ(test::cells(table, "bytes"), (Cells{"20000000", "1000000", "64"}));
  EXPECT_EQ(test::cells(table, "bus_rate"), (Cells{"8e+10", "5e+10", "-"}));
  EXPECT_EQ(test::cells(table, "bus_rate_p50"), (Cells{"6.66667e+10", "5e+10", "-"}));
  EXPECT_EQ(test::cells(table, "of_best"), (Cells{"0.8", "0.5", "-"}));  // of 100 GB/s
  EXPECT_EQ(test::cells(table, "no_rate"), (Cells{"-", "-", "latency bound"}));
  for (std::int64_t bytes = 1'024; bytes < 1'024 + 16; ++bytes) all.push_back(moved(bytes, 20'000));
  const report::Table put_together = tabulate(analyze::kMatchedSizeSheet, matched_sizes(all), true);
  EXPECT_EQ(test::cells(put_together, "bytes"), (Cells{"20000000", "1024", "1000000", "64"}));
  EXPECT_EQ(test::cells(put_together, "bytes_max"), (Cells{"20000000", "1039", "1000000", "64"}));
  EXPECT_EQ(test::cells(put_together, "count"), (Cells{"2", "16", "1", "1"}));
}

}  // namespace
}  // namespace stepscope
