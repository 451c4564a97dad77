// memory_plan of a small step, counted by hand.
#include "analyze/memory/memory_plan.h"

#include <fmt/format.h>

#include "analyze/list.h"
#include "make_rank.h"

namespace stepscope {
namespace {

using analyze::Fits;
using analyze::MemoryPlans;

std::string op_at(const char* name, int at, int length, const char* dims, const char* types,
                  const char* concrete = "[]") {
  return fmt::format(
      R"J({{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 5, "tid": 5, "ts": {}, "dur": {}, "args": {{"Input Dims": {}, "Input type": {}, "Concrete Inputs": {}}}}},)J",
      name, at, length, dims, types, concrete);
}

std::string memory_at(int at, int address, int bytes, int device = 0, int total = 0) {
  return fmt::format(
      R"J({{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 5, "tid": 5, "ts": {}, "args": {{"Device Type": {}, "Device Id": {}, "Addr": {}, "Bytes": {}{}}}}},)J",
      at, device, device - 1, address, bytes,
      total == 0 ? "" : fmt::format(R"(, "Total Allocated": {0}, "Total Reserved": {1})", total, 2 * total));
}

std::string joined(std::string events) {
  events.pop_back();  // the comma
  return events;
}

constexpr const char* kFloat = R"(["float"])";

// Batches of 3. A linear layer with a weight of [5, 4] gives 60 bytes, a relu 60; an operator needs 100 bytes
// of its own that fit no shape; 196 bytes are asked for by name. The backward pass makes the weight's
// gradient of 80 bytes.
std::string step() {
  return op_at("aten::linear", 0, 10, "[[3, 4], [5, 4], [5]]", R"(["float", "float", "float"])") +
         op_at("aten::addmm", 1, 8, "[[5], [3, 4], [4, 5], [], []]",
               R"(["float", "float", "float", "Scalar", "Scalar"])") +
         memory_at(5, 64, 60) + op_at("aten::relu", 20, 10, "[[3, 5]]", kFloat) + memory_at(25, 128, 60) +
         op_at("aten::with_scratch", 31, 4, "[[3, 5]]", kFloat) + memory_at(32, 192, 100) +
         memory_at(34, 192, -100) +
         op_at("aten::empty", 40, 2, "[[]]", R"(["ScalarList"])", R"(["[7, 7]"])") + memory_at(41, 256, 196) +
         op_at("autograd::engine::evaluate_function: AddmmBackward0", 50, 20, "[]", "[]") +
         op_at("aten::mm", 52, 4, "[[5, 3], [3, 4]]", R"(["float", "float"])") + memory_at(54, 320, 80) +
         op_at("torch::autograd::AccumulateGrad", 72, 3, "[[5, 4]]", kFloat);
}

MemoryPlans plans(const trace::Trace& trace,
                  std::initializer_list<std::pair<const char*, const char*>> given) {
  report::Params params;
  for (const auto& [name, value] : given) params.set(name, value);
  return analyze::memory_plans_of(analyze::Derived(trace, params), params);
}

// The weight's 80 bytes were there before, with at most 1 byte (1 %) of buffers.
TEST(MemoryPlan, EachAllocationGrowsByItsLaw) {
  const trace::Trace trace = test::open_events(joined(step()));
  const MemoryPlans of = plans(trace, {});
  ASSERT_EQ(of.peaks.size(), 4U);
  std::vector<std::int64_t> batches, lows, highs;
  for (const auto& peak : of.peaks) {
    batches.push_back(peak.batch);
    lows.push_back(peak.low);
    highs.push_back(peak.high);
  }
  EXPECT_EQ(batches, (std::vector<std::int64_t>{3, 6, 12, 24}));
  // 80 + 196 + 80 + 2 · 20 · batch: 476, 596, 836, 1316. From 12 on the scratch memory may be the peak, which
  // is 80 + 1 + (40 + 100 / 3) · batch: 477, 597, 961, 1841. Each end moves out by 0.5 % of the change.
  EXPECT_EQ(lows, (std::vector<std::int64_t>{476, 595, 834, 1312}));
  EXPECT_EQ(highs, (std::vector<std::int64_t>{477, 598, 963, 1848}));
}

TEST(MemoryPlan, PartsAndOperatorsAddUpToThePeak) {
  const trace::Trace trace = test::open_events(joined(step()));
  const MemoryPlans of = plans(trace, {{"to-batch", "6"}});
  ASSERT_EQ(of.peaks.size(), 1U);
  std::int64_t low = 0, high = 0, recorded = 0;
  for (const auto& part : of.parts) low += part.low, high += part.high, recorded += part.recorded;
  EXPECT_EQ(low, 596);
  EXPECT_EQ(high, 597);
  EXPECT_EQ(recorded, 476);
  std::string laws;
  for (const auto& op : of.operators) laws += fmt::format("{} {} {}; ", op.op, op.grows, op.high);
  EXPECT_EQ(laws, "aten::empty fixed 196; aten::addmm batch 120; aten::relu batch 120; aten::mm fixed 80; ");
}

TEST(MemoryPlan, LargestBatchThatFits) {
  const trace::Trace trace = test::open_events(joined(step()));
  const MemoryPlans of = plans(trace, {{"fit-into", "963.5B"}});
  ASSERT_EQ(of.largest.size(), 1U);
  EXPECT_EQ(of.largest[0].sure, 12);
  EXPECT_EQ(of.largest[0].perhaps, 15);  // 356 + 40 · 15 = 956, less 2.4
  EXPECT_EQ(of.peaks[2].fits, Fits::yes);
  EXPECT_EQ(of.peaks[3].fits, Fits::no);
}

// AdamW keeps two numbers per parameter, of which the step before the recording has made none.
TEST(MemoryPlan, OtherOptimizerAndPrecision) {
  const trace::Trace trace = test::open_events(joined(step()));
  EXPECT_EQ(plans(trace, {{"to-batch", "3"}, {"optimizer", "AdamW"}}).peaks[0].low, 476 + 160 - 1);
  EXPECT_EQ(plans(trace, {{"to-batch", "3"}, {"precision", "bf16"}}).peaks[0].low,
            30 + 30 + 98 + 40 + 40 - 1);
}

// A device's allocator says what there was before, and what it holds from the device: twice as much.
TEST(MemoryPlan, OfADevice) {
  const trace::Trace trace = test::open_events(
      joined(op_at("aten::relu", 20, 10, "[[3, 256]]", kFloat) + memory_at(25, 512, 3072, 1, 10240) +
             op_at("aten::mul", 40, 10, "[[3, 10], [10]]", R"(["float", "float"])") +
             memory_at(45, 4096, 512, 1, 10752)));
  const MemoryPlans of = plans(trace, {{"batch", "3"}, {"to-batch", "6"}, {"fit-into", "20000B"}});
  ASSERT_EQ(of.peaks.size(), 1U);
  EXPECT_EQ(of.peaks[0].low, 7168 + 6144 + 1024 - 18);
  EXPECT_EQ(of.peaks[0].fits,
            Fits::perhaps);  // 14,318 bytes do, the 28,708 that are reserved for them do not
}

TEST(MemoryPlan, WithoutShapesTheRangeIsOpen) {
  const trace::Trace trace = test::open_events(
      joined(R"J({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 1, "dur": 9},)J" +
             memory_at(5, 64, 60)));
  const MemoryPlans of = plans(trace, {{"batch", "2"}, {"to-batch", "4"}});
  ASSERT_EQ(of.peaks.size(), 1U);
  EXPECT_EQ(of.peaks[0].low, 60);
  EXPECT_EQ(of.peaks[0].high, 120);
  EXPECT_NE(of.notes.at(0).find("record_shapes"), std::string::npos);
}

TEST(MemoryPlan, NothingRecorded) {
  const trace::Trace trace = test::open_events(
      R"J({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 55, "dur": 20})J");
  const MemoryPlans of = plans(trace, {});
  EXPECT_TRUE(of.peaks.empty());
  EXPECT_NE(of.notes.at(0).find("profile_memory"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
