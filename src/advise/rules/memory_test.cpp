// Rules of memory that a profiler recorded, over small programs on a CPU.
#include <fmt/format.h>

#include <algorithm>

#include "advice_checks.h"

namespace stepscope::advise {
namespace {

using test::Cells;

constexpr long kMiB = 1 << 20;

std::string span_of(const char* category, std::string_view name, int at, int length) {
  return fmt::format(
      R"J({{"ph": "X", "cat": "{}", "name": "{}", "pid": 5, "tid": 5, "ts": {}, "dur": {}, "args": {{}}}},)J",
      category, name, at, length);
}

std::string change_of(int at, int address, long bytes) {
  return fmt::format(
      R"J({{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 5, "tid": 5, "ts": {}, "args": {{"Device Type": 0, "Device Id": -1, "Addr": {}, "Bytes": {}}}}},)J",
      at, address, bytes);
}

report::Table findings(std::string events) {
  events.pop_back();
  return test::advice_on(test::open_events(events)).tables[1];
}

/// Each step works for 800 µs in train(), then remember() keeps 2 MiB.
std::string keeps(int steps, int freed_steps) {
  std::string events;
  for (int i = 0; i < steps; ++i) {
    const int at = i * 1000;
    events += span_of("user_annotation", fmt::format("ProfilerStep#{}", i), at, 1000) +
              span_of("python_function", "train.py(3): train", at + 10, 980) +
              span_of("cpu_op", "aten::mm", at + 20, 800) +
              span_of("python_function", "data.py(9): remember", at + 900, 50) +
              span_of("cpu_op", "aten::clone", at + 910, 20) + change_of(at + 915, 64 * (i + 1), 2 * kMiB);
    if (i < freed_steps) events += change_of(at + 960, 64 * (i + 1), -2 * kMiB);
  }
  return events;
}

TEST(MemoryRules, GrowthNamesTheFunctionAndStandsFirst) {
  const report::Table table = findings(keeps(8, 0));
  ASSERT_GT(table.rows(), 0U);
  EXPECT_EQ(test::cells(table, "id")[0], "A05");
  EXPECT_EQ(test::cells(table, "title")[0],
            "Memory of host grows by 2.00 MiB in each of 8 steps; 100 % of what stays is made in data.py(9): "
            "remember");
  EXPECT_EQ(test::cells(table, "confidence")[0], "medium");
  const Cells healthy = test::cells(findings(keeps(8, 8)), "id");
  EXPECT_EQ(std::ranges::count(healthy, "A05"), 0);
}

// On a device of 80 MiB, each of 8 calls keeps 8 MiB and gives 1 MiB. Checkpointed, 8 outputs, one call's
// memory and a second output are left.
TEST(MemoryRules, AFullDeviceNamesTheModuleToCheckpoint) {
  std::string events = span_of("user_annotation", "ProfilerStep#0", 0, 4000) +
                       span_of("cuda_runtime", "cudaLaunchKernel", 110, 5);
  events +=
      R"J({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 200, "dur": 3000, "args": {"device": 0, "stream": 7}},)J";
  const auto on_device = [](int at, int address, long bytes, long total) {
    return fmt::format(
        R"J({{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 5, "tid": 5, "ts": {}, "args": {{"Device Type": 1, "Device Id": 0, "Addr": {}, "Bytes": {}, "Total Allocated": {}, "Total Reserved": {}}}}},)J",
        at, address, bytes, total, total);
  };
  long total = 0;
  for (int i = 0; i < 8; ++i) {
    const int at = 100 * (i + 1);
    events += span_of("python_function", fmt::format("nn.Module: Block_{}", i), at, 90) +
              span_of("cpu_op", "aten::relu", at + 10, 70);
    events += on_device(at + 20, 1000 + i, 8 * kMiB, total += 8 * kMiB);
    events += on_device(at + 40, 2000 + i, kMiB, total += kMiB);
  }
  for (int i = 8; i-- > 0;) {
    const int at = 2000 + 100 * (8 - i);
    events += span_of("cpu_op", "autograd::engine::evaluate_function: ReluBackward0", at, 90);
    events += on_device(at + 20, 1000 + i, -8 * kMiB, total -= 8 * kMiB);
  }
  events.pop_back();
  const report::Table table =
      test::advice_on(
          test::open_json(
              R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100", "totalGlobalMem": 79691776}], "traceEvents": [)" +
              events + "]}"))
          .tables[1];
  const Cells ids = test::cells(table, "id");
  const auto at = std::ranges::find(ids, "A02");
  ASSERT_NE(at, ids.end());
  EXPECT_NE(test::cells(table, "remedy")[static_cast<std::size_t>(at - ids.begin())].find(
                "each Block: the peak falls to 17.0 MiB"),
            std::string::npos);
}

}  // namespace
}  // namespace stepscope::advise
