// checkpointing of two module calls, counted by hand.
#include "analyze/memory/checkpointing.h"

#include <fmt/format.h>

#include "analyze/list.h"
#include "make_rank.h"

namespace stepscope {
namespace {

std::string range(const char* category, const char* name, int at, int length) {
  return fmt::format(
      R"J({{"ph": "X", "cat": "{}", "name": "{}", "pid": 5, "tid": 5, "ts": {}, "dur": {}, "args": {{}}}},)J",
      category, name, at, length);
}

std::string record(int at, int address, int bytes) {
  return fmt::format(
      R"J({{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 5, "tid": 5, "ts": {}, "args": {{"Device Type": 0, "Device Id": -1, "Addr": {}, "Bytes": {}}}}},)J",
      at, address, bytes);
}

// Block_0 keeps 30 bytes and gives 20. Block_1 keeps 40, needs 5 for a while, and gives 20. The backward pass
// makes 7 and frees the 40, then frees the 30. Levels: 30 50 | 90 95 90 110 | 117 77 47.
const std::string kTwoBlocks =
    range("python_function", "nn.Module: Block_0", 10, 30) + record(20, 64, 30) + record(30, 128, 20) +
    range("python_function", "nn.Module: Block_1", 50, 30) + record(55, 192, 40) + record(60, 256, 5) +
    record(65, 256, -5) + record(70, 320, 20) +
    range("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 110, 10) + record(112, 384, 7) +
    record(115, 192, -40) + range("cpu_op", "autograd::engine::evaluate_function: AddBackward0", 130, 10) +
    record(135, 64, -30);

analyze::Checkpointing answered(std::string events) {
  events.pop_back();
  const trace::Trace trace = test::open_events(events);
  return analyze::checkpointing_of(analyze::Derived(trace, {}));
}

TEST(Checkpointing, WhatCallsKeepGoesAndComesBack) {
  const analyze::Checkpointing of = answered(kTwoBlocks);
  ASSERT_EQ(of.modules.size(), 1U);
  EXPECT_EQ(of.modules[0].module, "Block");
  EXPECT_EQ(of.modules[0].calls, 2);
  EXPECT_EQ(of.modules[0].peak, 117);
  EXPECT_EQ(of.modules[0].held, 70);
  EXPECT_EQ(of.modules[0].low, 87);    // at the 7: 117 without the 30
  EXPECT_EQ(of.modules[0].high, 100);  // before the 7: 110 without the 30, and a second output of 20
  EXPECT_EQ(of.modules[0].again, 60'000);
}

// What is freed before the backward pass is not kept for it, and what is never freed would stay.
TEST(Checkpointing, OnlyWhatTheBackwardPassFrees) {
  const analyze::Checkpointing of =
      answered(range("python_function", "nn.Module: Block_0", 10, 30) + record(20, 64, 30) +
               record(25, 96, 8) + record(30, 128, 20) + record(45, 64, -30) +
               range("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 110, 10) +
               record(112, 384, 7) + record(115, 128, -20));
  EXPECT_TRUE(of.modules.empty());
}

// The plan of the recorded size moves the ends of the same range out: by 0.5 % of the change from 117, then
// by 6 %.
TEST(Checkpointing, ThePlanReplaysTheSameCalls) {
  std::string events = kTwoBlocks;
  events.pop_back();
  const trace::Trace trace = test::open_events(events);
  const auto planned = [&](const char* modules) {
    return test::answer("memory_plan", trace, test::params({{"checkpoint", modules}}));
  };
  const report::Report plan = planned("Block");
  EXPECT_EQ(test::cells(plan.tables[0], "peak_low"), test::Cells{"82"});    // (87 - 0.15) * 0.94
  EXPECT_EQ(test::cells(plan.tables[0], "peak_high"), test::Cells{"106"});  // (100 + 0.085) * 1.06
  const report::Report other = planned("Layer,Block");
  EXPECT_EQ(test::cells(other.tables[0], "peak_high"), test::Cells{"106"});
  EXPECT_NE(other.notes.back().find("--checkpoint Layer: no call of such a module"), std::string::npos)
      << other.notes.back();
}

TEST(Checkpointing, NothingRecorded) {
  const analyze::Checkpointing of = answered(range("cpu_op", "aten::mm", 1, 2));
  EXPECT_NE(of.notes.at(0).find("profile_memory"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
