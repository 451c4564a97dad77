#include "derive/idle/idle_cause.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/open_text.h"

namespace stepscope::derive {
namespace {

/// `threads` threads take turns: in round i, thread i runs a 50 µs op that ends at 100 i, then launches a
/// 10 µs kernel that starts at 100 i + 20 on device i modulo `devices`.
trace::Trace taking_turns(int threads, int devices) {
  std::string text = "[";
  for (int i = 1; i <= threads; ++i)
    text += fmt::format(
        R"({{"ph":"X","cat":"cpu_op","name":"op","pid":9000,"tid":{0},"ts":{1},"dur":50}},)"
        R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9000,"tid":{0},"ts":{2},"dur":5,"args":{{"correlation":{0}}}}},)"
        R"({{"ph":"X","cat":"kernel","name":"k","pid":{3},"tid":7,"ts":{4},"dur":10,"args":{{"correlation":{0}}}}}{5})",
        i, 100 * i - 50, 100 * i, i % devices, 100 * i + 20, i == threads ? "]" : ",");
  auto trace = test::open_text(text);
  EXPECT_TRUE(trace.ok());
  return std::move(*trace);
}

std::vector<std::string> pieces_of(const trace::Trace& trace, timeline::Interval window) {
  const trace::Rank& rank = trace.ranks[0];
  std::vector<std::string> out;
  for (const IdlePiece& piece : idle_pieces(trace, rank, busy_devices(rank), window))
    out.push_back(
        fmt::format("{} {}-{}", name_of(piece.cause), piece.span.begin / 1000, piece.span.end / 1000));
  return out;
}

// File I/O after a blocking call is not the refill's.
TEST(IdleCause, FileCallsAreTold) {
  auto trace = test::open_text(R"([
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":0,"dur":1,"args":{"correlation":1}},
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":9,"args":{"correlation":1}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":1,"tid":1,"ts":5,"dur":7},
    {"ph":"X","cat":"posix_call","name":"write","pid":1,"tid":1,"ts":15,"dur":15,"args":{"fname":"/a"}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":40,"dur":1,"args":{"correlation":2}},
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":45,"dur":5,"args":{"correlation":2}}])");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(
      pieces_of(*trace, {1'000, 50'000}),
      (std::vector<std::string>{"sync 10-12", "refill 12-15", "io 15-30", "refill 30-40", "pending 40-45"}));
}

// The gap of the last of twenty threads: from 1930, when the nineteenth kernel ends, to 2020.
TEST(IdleCause, OfEveryLaunchingThread) {
  EXPECT_EQ(pieces_of(taking_turns(20, 1), {1'930'000, 2'030'000}),
            (std::vector<std::string>{"untraced 1930-1950", "op 1950-2000", "pending 2000-2020"}));
}

// Both threads launch. While the thread that ends the gap does nothing, the other thread's activity counts by
// precedence: a wait inside an operator is `sync`.
TEST(IdleCause, OfTheOtherLaunchingThreads) {
  auto trace = test::open_text(
      R"([{"ph":"X","cat":"cpu_op","name":"a","pid":9,"tid":1,"ts":20,"dur":40},)"
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":9,"tid":1,"ts":30,"dur":10},)"
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":1,"ts":0,"dur":5,"args":{"correlation":1}},)"
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":2,"ts":80,"dur":5,"args":{"correlation":2}},)"
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":6,"dur":4,"args":{"correlation":1}},)"
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":90,"dur":10,"args":{"correlation":2}}])");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(pieces_of(*trace, {6'000, 100'000}),
            (std::vector<std::string>{"untraced 10-20", "op 20-30", "sync 30-40", "op 40-60",
                                      "untraced 60-80", "pending 80-90"}));
}

// One thread launches to 2000 devices in turn, so each device's gap covers the launches to all others: two
// pieces per launch, 8 million in total.
TEST(IdleCause, OfOneThreadWithThousandsOfDevices) {
  std::string text = "[";
  constexpr int kDevices = 2000;
  for (int i = 1; i <= kDevices; ++i)
    text += fmt::format(
        R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9000,"tid":1,"ts":{1},"dur":5,"args":{{"correlation":{0}}}}},)"
        R"({{"ph":"X","cat":"kernel","name":"k","pid":{0},"tid":7,"ts":{2},"dur":10,"args":{{"correlation":{0}}}}}{3})",
        i, 100 * i, 100 * i + 20, i == kDevices ? "]" : ",");
  const auto trace = test::open_text(text);
  ASSERT_TRUE(trace.ok());
  const trace::Rank& rank = trace->ranks[0];
  const auto devices = busy_devices(rank);
  const auto pieces = idle_pieces(*trace, rank, devices, {0, 300'000'000});
  EXPECT_LE(pieces.size(), most_idle_pieces(rank) + 2 * kDevices + 2 * kDevices);
  EXPECT_TRUE(pieces.back().whole);
  std::int64_t idle = 0;
  for (const IdlePiece& piece : pieces) idle += piece.span.length();
  EXPECT_EQ(idle, std::int64_t{kDevices} * (300'000'000 - 10'000));
}

// Thousands of threads: walking all threads for each thread would take minutes.
TEST(IdleCause, OfThousandsOfThreads) {
  const trace::Trace trace = taking_turns(4000, 20);
  const trace::Rank& rank = trace.ranks[0];
  const auto devices = busy_devices(rank);
  ASSERT_EQ(devices.size(), 20u);
  const auto pieces = idle_pieces(trace, rank, devices, {0, 400'100'000});
  std::int64_t pending = 0, idle = 0, expected = 0;
  for (const IdlePiece& piece : pieces) {
    idle += piece.span.length();
    if (piece.cause == IdleCause::pending) pending += piece.span.length();
  }
  for (const DeviceBusy& device : devices) expected += device.all.gaps({0, 400'100'000}).length();
  EXPECT_EQ(idle, expected);
  EXPECT_EQ(pending, 4000 * 20'000);
}

}  // namespace
}  // namespace stepscope::derive
