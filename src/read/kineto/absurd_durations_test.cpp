#include "read/kineto/absurd_durations.h"

#include <gtest/gtest.h>

#include "support/check_trace.h"
#include "support/open_text.h"

namespace stepscope::read {
namespace {

std::string event(int ts, std::string_view microseconds) {
  return fmt::format(R"({{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":{},"dur":{}}})", ts,
                     microseconds);
}

// 2^56 ns are 72,057,594,037,927.936 µs.
TEST(AbsurdDurations, TheLongestGoUntilTheRestAddsUp) {
  const auto trace = test::open_text("[" + event(1, "72057594037927.936") + event(2, "30000000000000") +
                                     event(3, "30000000000000") + event(4, "5") + event(5, "0") + "]");
  ASSERT_TRUE(trace.ok());
  const trace::Rank& rank = trace->ranks[0];
  std::vector<std::int64_t> durations;
  for (trace::Row row = 0; row < rank.events.size(); ++row) durations.push_back(rank.events.duration(row));
  EXPECT_EQ(durations,
            (std::vector<std::int64_t>{0, 30'000'000'000'000'000, 30'000'000'000'000'000, 5000, 0}));
  EXPECT_EQ(rank.reading.clamped_times, 1);
}

TEST(AbsurdDurations, WhatAddsUpExactlyStays) {
  const auto trace = test::open_text("[" + event(1, "72057594037927.936") + "]");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->ranks[0].events.duration(0), kMaxTotalTime);
  EXPECT_EQ(trace->ranks[0].reading.clamped_times, 0);
}

TEST(AbsurdDurations, EqualOnesGoTogether) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += event(i, "3000000000000000");
  const auto trace = test::open_text(text + event(2000, "7") + "]");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->ranks[0].reading.clamped_times, 1000);
}

// Times at both ends of the readable range, on the host and on many devices: no analysis may overflow. The
// sanitizer builds catch an overflow.
TEST(AbsurdDurations, EveryAnalysisBearsExtremeTimes) {
  std::string text = R"({"traceEvents":[)";
  const auto add = [&](std::string_view category, std::string_view name, int pid, int id, std::string_view ts,
                       std::string_view dur) {
    text += fmt::format(
        R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":7,"ts":{},"dur":{},)"
        R"("args":{{"device":{},"stream":7,"correlation":{},"External id":{},"bytes":9000000000000000000,"Input Dims":[[4,4],[4,4]]}}}},)",
        category, name, pid, ts, dur, pid, id, id);
  };
  for (int step = 0; step < 3; ++step)
    add("user_annotation", fmt::format("ProfilerStep#{}", step), 900, 0,
        step == 0   ? "-3999999999999000"
        : step == 1 ? "0"
                    : "3999999999990000",
        "1000");
  for (int i = 1; i <= 40; ++i) {
    const bool early = i % 2 == 0;
    const std::string_view ts = early ? "-3999999999998900" : "3999999999990100";
    add("cpu_op", "aten::mm", 900, i, ts, early ? "3999999999999000" : "50");
    add("cuda_runtime", i % 3 == 0 ? "cudaStreamSynchronize" : "cudaLaunchKernel", 900, i, ts, "40");
    add(i % 5 == 0 ? "gpu_memcpy" : "kernel", i % 7 == 0 ? "ncclDevKernel_AllReduce" : "gemm", i, i,
        "3999999999990500", "3000000000000000");
    add("kernel", "gemm", i, i, "-3999999999998000", "9");
  }
  const auto trace = test::open_text(text + R"({"ph":"M"}]})");
  ASSERT_TRUE(trace.ok());
  test::check_trace(*trace);
  test::check_analyses(*trace);
}

}  // namespace
}  // namespace stepscope::read
