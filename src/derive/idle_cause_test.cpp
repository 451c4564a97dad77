#include "derive/idle_cause.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/open_text.h"

namespace stepscope::derive {
namespace {

/// `threads` threads take turns: in round i thread i works on an op for 50 µs until 100 i, then launches a
/// kernel that runs from 100 i + 20 for 10 µs on the device i modulo `devices`.
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

// The twentieth of twenty threads: its gap runs from the end of the nineteenth kernel at 1930 to 2020.
TEST(IdleCause, OfEveryLaunchingThread) {
  EXPECT_EQ(pieces_of(taking_turns(20, 1), {1'930'000, 2'030'000}),
            (std::vector<std::string>{"untraced 1930-1950", "op 1950-2000", "pending 2000-2020"}));
}

// Thousands of threads: a walk through all of them for each of them would take minutes.
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
