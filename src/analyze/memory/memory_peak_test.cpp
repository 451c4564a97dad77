// memory_summary and memory_peak over a small snapshot, counted by hand.
#include <gtest/gtest.h>

#include "analyze/memory/made_snapshot_for_test.h"
#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

// Block at 4096 (1,000 bytes) is older than the events. train.py(7) allocates 500 and frees it, model.py(3)
// allocates 2,000 through torch, a backward thread allocates 300.
constexpr const char* kSnapshot = R"J({"segments": [{"device": 0, "address": 4096, "total_size": 8192,
  "allocated_size": 3584, "active_size": 3584, "requested_size": 3300, "stream": 0, "segment_type": "small", "blocks": [
    {"address": 4096, "size": 1024, "requested_size": 1000, "state": "active_allocated", "frames": []},
    {"address": 5120, "size": 2048, "requested_size": 2000, "state": "active_allocated", "frames": []},
    {"address": 7168, "size": 512, "requested_size": 300, "state": "active_allocated", "frames": []},
    {"address": 7680, "size": 4608, "requested_size": 1, "state": "inactive", "frames": []}]}],
  "device_traces": [[
    {"action": "alloc", "addr": 7680, "size": 500, "stream": 0, "time_us": 100, "frames": [
      {"name": "c10::cuda::CUDACachingAllocator::malloc", "filename": "??", "line": 0},
      {"name": "at::empty", "filename": "??", "line": 0},
      {"name": "step", "filename": "/home/a/train.py", "line": 7}]},
    {"action": "alloc", "addr": 5120, "size": 2000, "stream": 0, "time_us": 110, "frames": [
      {"name": "linear", "filename": "/v/lib/python3.12/site-packages/torch/nn/functional.py", "line": 1},
      {"name": "forward", "filename": "/home/a/model.py", "line": 3},
      {"name": "step", "filename": "/home/a/train.py", "line": 8}]},
    {"action": "free_requested", "addr": 7680, "size": 500, "stream": 0, "time_us": 120},
    {"action": "free_completed", "addr": 7680, "size": 500, "stream": 0, "time_us": 121},
    {"action": "alloc", "addr": 7168, "size": 300, "stream": 0, "time_us": 130, "frames": [
      {"name": "torch::autograd::Engine::thread_main", "filename": "engine.cpp", "line": 9}]}]]})J";

TEST(MemorySummary, ByHand) {
  const report::Report report = test::answer("memory_summary", test::open_json(kSnapshot));
  const report::Table& table = report.tables[0];
  const std::pair<const char*, const char*> kExpected[] = {{"device", "0"},
                                                           {"events", "5"},
                                                           {"start_requested", "1000"},
                                                           {"end_requested", "3300"},
                                                           {"peak_requested", "3500"},
                                                           {"peak_event", "1"},
                                                           {"peak_reserved", "8192"},
                                                           {"end_reserved", "8192"},
                                                           {"end_allocated", "3584"},
                                                           {"end_active", "3584"},
                                                           {"largest_free_block", "4608"},
                                                           {"free_cached", "4608"},
                                                           {"segments", "1"},
                                                           {"blocks", "4"},
                                                           {"alloc_retries", "0"},
                                                           {"ooms", "0"},
                                                           {"oom_request", "0"},
                                                           {"distinct_stacks", "3"}};
  for (const auto& [column, value] : kExpected) EXPECT_EQ(cells(table, column), Cells{value}) << column;
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_TRUE(report.notes[0].starts_with("Device 0: 33.3 % of the allocations have no Python frame"))
      << report.notes[0];
}

TEST(MemoryPeak, WhoHoldsIt) {
  const trace::Trace trace = test::open_json(kSnapshot);
  const report::Report peak = test::answer("memory_peak", trace);
  EXPECT_EQ(cells(peak.tables[0], "event"), Cells{"1"});
  EXPECT_EQ(cells(peak.tables[0], "time"), Cells{"10000"});
  const report::Table& held = peak.tables[1];
  EXPECT_EQ(cells(held, "place"), (Cells{"/home/a/model.py(3): forward", "allocated before the recording",
                                         "/home/a/train.py(7): step"}));
  EXPECT_EQ(cells(held, "bytes"), (Cells{"2000", "1000", "500"}));
  EXPECT_EQ(cells(held, "before_recording"), (Cells{"0", "1000", "0"}));
  EXPECT_EQ(cells(held, "oldest_events"), (Cells{"0", "-", "1"}));
  EXPECT_EQ(cells(held, "peak_without"),
            (Cells{"1500", "2500", "3300"}));  // 1000 + 500, 3500 - 1000, the end
  EXPECT_EQ(cells(held, "mean")[1], "1000") << "held over all events";
  EXPECT_EQ(cells(held, "oldest_age"), (Cells{"0", "-", "10000"}));
  const report::Table& by_stack = peak.tables[2];
  EXPECT_EQ(by_stack.shape, report::Shape::flame);
  EXPECT_EQ(cells(by_stack, "bytes"), (Cells{"2000", "1000", "500"}));
  EXPECT_EQ(cells(by_stack, "stack")[2], "/home/a/train.py(7): step;at::empty");
  const report::Table end =
      test::answer("memory_peak", trace, test::params({{"at", "4"}, {"by", "function"}})).tables[1];
  EXPECT_EQ(cells(end, "place"), (Cells{"/home/a/model.py: forward", "allocated before the recording",
                                        "torch::autograd::Engine::thread_main"}));
  const report::Table start = test::answer("memory_peak", trace, test::params({{"at", "start"}})).tables[1];
  EXPECT_EQ(cells(start, "bytes"), Cells{"1000"});
  const report::Table stacks = test::answer("memory_peak", trace, test::params({{"by", "stack"}})).tables[1];
  EXPECT_EQ(cells(stacks, "place")[2], "/home/a/train.py(7): step;at::empty");
  const report::Report absent = test::answer("memory_peak", trace, test::params({{"at", "5"}}));
  EXPECT_EQ(absent.tables[1].rows(), 0u);
  EXPECT_EQ(absent.notes.back(),
            "Device 0 has no event 5: it has events 0 to 4, and the instants peak, start, end and oom.");
}

TEST(MemoryPeak, WithoutSnapshot) {
  const trace::Trace trace = test::open_events(
      R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1})");
  for (const char* analysis :
       {"memory_summary", "memory_peak", "memory_curve", "memory_diff", "memory_segments"}) {
    const report::Report report = test::answer(analysis, trace);
    ASSERT_EQ(report.notes.size(), 1u);
    EXPECT_TRUE(report.notes[0].starts_with("No memory snapshot is open.")) << report.notes[0];
  }
}

// A recording of the same run: two steps of 100 µs; the snapshot's peak, at 110 µs, is in a module's op of
// step 5, and another thread's op began earlier. The event at 130 µs lies in the backward of the same op.
constexpr const char* kRecording = R"J({"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#5", "pid": 1, "tid": 1, "ts": 20, "dur": 95},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#6", "pid": 1, "tid": 1, "ts": 120, "dur": 100},
  {"ph": "X", "cat": "python_function", "name": "nn.Module: Net_0", "pid": 1, "tid": 1, "ts": 90, "dur": 24},
  {"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_1", "pid": 1, "tid": 1, "ts": 91, "dur": 22},
  {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 1, "ts": 105, "dur": 6, "args": {"Sequence number": 3}},
  {"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 1, "tid": 1, "ts": 109, "dur": 2},
  {"ph": "X", "cat": "cpu_op", "name": "aten::copy_", "pid": 1, "tid": 2, "ts": 50, "dur": 100},
  {"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: AddmmBackward0", "pid": 1, "tid": 3, "ts": 126, "dur": 9,
   "args": {"Sequence number": 3, "Fwd thread id": 1}},
  {"ph": "X", "cat": "cpu_op", "name": "AddmmBackward0", "pid": 1, "tid": 3, "ts": 127, "dur": 7,
   "args": {"Sequence number": 3, "Fwd thread id": 1}}]})J";

TEST(MemoryPeak, WhatRanThen) {
  const trace::Trace trace = test::open_jsons({kRecording, kSnapshot});
  ASSERT_EQ(trace.ranks.size(), 1u);
  const report::Report peak = test::answer("memory_peak", trace, test::params({{"by", "module"}}));
  const report::Table& ran = peak.tables[3];
  EXPECT_EQ(cells(ran, "step"), Cells{"5"});
  EXPECT_EQ(cells(ran, "op"), Cells{"aten::linear"});
  EXPECT_EQ(cells(ran, "module"), Cells{"Net_0/Linear_1"});
  EXPECT_EQ(cells(peak.tables[1], "place"),
            (Cells{"Net_0/Linear_1", "allocated before the recording", "outside modules"}));
  const report::Report end =
      test::answer("memory_peak", trace, test::params({{"by", "module"}, {"at", "end"}}));
  EXPECT_EQ(cells(end.tables[3], "step"), Cells{"6"});
  EXPECT_EQ(cells(end.tables[3], "op"), Cells{"autograd::engine::evaluate_function: AddmmBackward0"});
  EXPECT_EQ(cells(end.tables[1], "place"),
            (Cells{"Net_0/Linear_1", "allocated before the recording", "backward of Net_0/Linear_1"}));
  EXPECT_EQ(test::answer("memory_peak", test::open_json(kSnapshot)).tables.size(), 3u);
}

TEST(MemoryPeak, GroupsOfWhatAllocationsAre) {
  const trace::Trace trace = test::open_json(kSnapshot);
  const auto held = [&](const char* by) {
    return test::answer("memory_peak", trace, test::params({{"by", by}, {"at", "end"}}));
  };
  EXPECT_EQ(cells(held("size").tables[1], "place"), Cells{"below 4 KiB"});
  EXPECT_EQ(cells(held("size").tables[1], "bytes"), Cells{"3300"});
  EXPECT_EQ(cells(held("age").tables[1], "place"),
            (Cells{"in the last 10 events", "allocated before the recording"}));
  EXPECT_EQ(cells(held("age").tables[1], "bytes"), (Cells{"2300", "1000"}));
  for (const char* by : {"module", "category"}) {
    const report::Report without = held(by);
    EXPECT_EQ(cells(without.tables[1], "place")[0], "/home/a/model.py(3): forward") << by;
    EXPECT_TRUE(without.notes.back().starts_with("Device 0: ")) << by;
  }
}

TEST(MemoryPeak, AgesInSteps) {
  const trace::Trace trace = test::leaking(10, true).open();
  const report::Table held =
      test::answer("memory_peak", trace, test::params({{"by", "age"}, {"at", "end"}})).tables[1];
  EXPECT_EQ(cells(held, "place"), (Cells{"4 to 7 steps before", "2 to 3 steps before", "8 to 15 steps before",
                                         "1 step before", "in this step"}));
  EXPECT_EQ(cells(held, "count"), (Cells{"4", "2", "2", "1", "1"}));
}

}  // namespace
}  // namespace stepscope
