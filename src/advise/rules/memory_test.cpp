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

/// Each of `blocks` calls keeps `kept` and gives 1 MiB; the backward pass frees what they kept.
std::string trained(int blocks, long kept) {
  std::string events = span_of("user_annotation", "ProfilerStep#0", 0, 4000);
  for (int i = 0; i < blocks; ++i) {
    const int at = 100 * (i + 1);
    events += span_of("python_function", fmt::format("nn.Module: Block_{}", i), at, 90) +
              span_of("cpu_op", "aten::relu", at + 10, 70) + change_of(at + 20, 1000 + i, kept) +
              change_of(at + 40, 2000 + i, kMiB);
  }
  for (int i = blocks; i-- > 0;) {
    const int at = 2000 + 100 * (blocks - i);
    events += span_of("cpu_op", "autograd::engine::evaluate_function: ReluBackward0", at, 90) +
              change_of(at + 20, 1000 + i, -kept);
  }
  return events;
}

TEST(MemoryRules, CheckpointingThatWouldHalveThePeak) {
  const auto ids = [](int blocks, long kept) { return test::cells(findings(trained(blocks, kept)), "id"); };
  EXPECT_EQ(std::ranges::count(ids(8, 8 * kMiB), "A11"), 1);   // of 72 MiB, 8 outputs and one block are left
  EXPECT_EQ(std::ranges::count(ids(2, 16 * kMiB), "A11"), 0);  // of 34 MiB, 19 are left
  EXPECT_EQ(std::ranges::count(ids(8, 2 * kMiB), "A11"), 0);   // saves 13 MiB
}

}  // namespace
}  // namespace stepscope::advise
