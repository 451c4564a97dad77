#include "derive/replay/replay.h"

#include "make_rank.h"

namespace stepscope::derive {
namespace {

std::string_view event_name(const trace::Trace& trace, const ReplayPlan& plan, std::int32_t event) {
  return event == ReplayPlan::kNone
             ? "nothing"
             : trace.name(trace.ranks[0], plan.events[static_cast<std::size_t>(event)].row);
}

ReplayPlan plan_of(const trace::Trace& trace) {
  const trace::Rank& rank = trace.ranks[0];
  return replay_plan(trace, rank, waiting_calls(trace, rank, launch_queue(trace, rank)), {});
}

// b was requested at 14 µs and starts at 105, 5 µs after a ended on another stream: b waited for a. c starts
// in a's last 2 %, so it waited for a too. d was launched before a and cannot have waited for a.
TEST(Replay, WaitsOnOtherStreamsAreInferred) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 0, "dur": 4, "args": {"correlation": 9}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 5, "dur": 4, "args": {"correlation": 1}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 10, "dur": 4, "args": {"correlation": 2}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 20, "dur": 4, "args": {"correlation": 3}},
    {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 10, "dur": 90, "args": {"correlation": 1}},
    {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 8, "ts": 105, "dur": 45, "args": {"correlation": 2}},
    {"ph": "X", "cat": "kernel", "name": "c", "pid": 0, "tid": 9, "ts": 99, "dur": 1, "args": {"correlation": 3}},
    {"ph": "X", "cat": "kernel", "name": "d", "pid": 0, "tid": 10, "ts": 107, "dur": 1, "args": {"correlation": 9}})J");
  ASSERT_EQ(trace.ranks.size(), 1u);
  const ReplayPlan plan = plan_of(trace);
  std::vector<std::string> waits;
  for (const ReplayPlan::Wait& wait : plan.waits)
    waits.push_back(std::string(event_name(trace, plan, wait.event)) + " on " +
                    std::string(event_name(trace, plan, wait.on)));
  EXPECT_EQ(waits, (std::vector<std::string>{"c on a", "b on a"}));
  const Replayed same = replay(trace.ranks[0], plan, {});                          // a, c, b, d
  EXPECT_EQ(same.start, (Column<std::int64_t>{10'000, 99'000, 105'000, 24'000}));  // d: at most 20 µs
  Changes changes;
  changes.device = {0.5, 1, 1, 1};
  const Replayed faster = replay(trace.ranks[0], plan, changes);
  EXPECT_EQ(faster.start, (Column<std::int64_t>{10'000, 54'000, 60'000, 24'000}));  // a ends at 55
}

// The host requests the kernel at 104, counted from 0, and it starts 2 µs later. At half the host's time that
// is 52 + 2; with the operator halved as well, 26 + 2. The device keeps its length.
TEST(Replay, TheHostAtAnotherPace) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "cpu_op", "name": "op", "pid": 5, "tid": 5, "ts": 0, "dur": 200},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 100, "dur": 4, "args": {"correlation": 1}},
    {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 106, "dur": 10, "args": {"correlation": 1}})J");
  ASSERT_EQ(trace.ranks.size(), 1u);
  const ReplayPlan plan = plan_of(trace);
  EXPECT_EQ(replay(trace.ranks[0], plan, {}, 1).start, (Column<std::int64_t>{106'000}));
  const Replayed half = replay(trace.ranks[0], plan, {}, 0.5);
  EXPECT_EQ(half.start, (Column<std::int64_t>{54'000}));
  EXPECT_EQ(half.end, (Column<std::int64_t>{64'000}));
  Changes changes;
  changes.host = {{0, 0.5}};
  EXPECT_EQ(replay(trace.ranks[0], plan, changes, 0.5).start, (Column<std::int64_t>{28'000}));
}

// The recording contains the stream's wait: 75 µs lie between a and b, more than is ever inferred.
TEST(Replay, WaitsOnOtherStreamsAsRecorded) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 0, "dur": 4, "args": {"correlation": 1}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaEventRecord", "pid": 5, "tid": 5, "ts": 5, "dur": 1, "args": {"correlation": 2}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamWaitEvent", "pid": 5, "tid": 5, "ts": 7, "dur": 1, "args": {"correlation": 3}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 10, "dur": 4, "args": {"correlation": 4}},
    {"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": 8, "ts": 7, "dur": 1, "args": {"correlation": 3, "stream": 8, "device": 0, "wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 2}},
    {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 10, "dur": 90, "args": {"correlation": 1}},
    {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 8, "ts": 175, "dur": 45, "args": {"correlation": 4}})J");
  ASSERT_EQ(trace.ranks.size(), 1u);
  const ReplayPlan plan = plan_of(trace);
  ASSERT_EQ(plan.waits.size(), 1u);
  EXPECT_EQ(event_name(trace, plan, plan.waits[0].event), "b");
  EXPECT_EQ(event_name(trace, plan, plan.waits[0].on), "a");
  const Replayed same = replay(trace.ranks[0], plan, {});
  EXPECT_EQ(same.start, (Column<std::int64_t>{10'000, 120'000}));  // of the 75 µs, 20 count as latency
}

// A synchronisation that ends at 210 waited for its own thread's last launch (until 200), not for the event
// of another stream that ended closer to its return but was launched after it began.
TEST(Replay, WhatACallWaitedFor) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 0, "dur": 4, "args": {"correlation": 1}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 5, "tid": 5, "ts": 10, "dur": 200, "args": {"correlation": 2}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 6, "ts": 20, "dur": 4, "args": {"correlation": 3}},
    {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 10, "dur": 190, "args": {"correlation": 1}},
    {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 8, "ts": 30, "dur": 179, "args": {"correlation": 3}})J");
  ASSERT_EQ(trace.ranks.size(), 1u);
  const ReplayPlan plan = plan_of(trace);
  ASSERT_EQ(plan.calls.size(), 3u);
  EXPECT_EQ(event_name(trace, plan, plan.calls[1].until), "a");
  EXPECT_EQ(plan.calls[1].epilogue, 10'000);
}

// Work whose launch is not in the file follows its stream with the recorded gap. The first event stays in
// place.
TEST(Replay, EventsWithoutLaunchFollowTheirStream) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 0, "dur": 4, "args": {"correlation": 3}},
    {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 10, "dur": 40, "args": {"correlation": 1}},
    {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 90, "dur": 10, "args": {"correlation": 2}},
    {"ph": "X", "cat": "kernel", "name": "c", "pid": 0, "tid": 7, "ts": 103, "dur": 10, "args": {"correlation": 3}})J");
  ASSERT_EQ(trace.ranks.size(), 1u);
  const ReplayPlan plan = plan_of(trace);
  Changes changes;
  changes.device = {0.5, 1, 1};
  const Replayed faster = replay(trace.ranks[0], plan, changes);
  EXPECT_EQ(faster.start, (Column<std::int64_t>{10'000, 70'000, 83'000}));
}

// b and d were requested while their stream worked and start 1 µs after it. c found the stream idle and
// started 6 µs after its launch. Without the 40 µs of host work before its launch, c waits for b and also
// starts 1 µs after it.
TEST(Replay, AQueueHidesTheWayOfALaunch) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 0, "dur": 4, "args": {"correlation": 1}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 5, "dur": 4, "args": {"correlation": 2}},
    {"ph": "X", "cat": "cpu_op", "name": "slow", "pid": 5, "tid": 5, "ts": 10, "dur": 40},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 50, "dur": 4, "args": {"correlation": 3}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 55, "dur": 4, "args": {"correlation": 4}},
    {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 10, "dur": 10, "args": {"correlation": 1}},
    {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 21, "dur": 10, "args": {"correlation": 2}},
    {"ph": "X", "cat": "kernel", "name": "c", "pid": 0, "tid": 7, "ts": 60, "dur": 10, "args": {"correlation": 3}},
    {"ph": "X", "cat": "kernel", "name": "d", "pid": 0, "tid": 7, "ts": 71, "dur": 10, "args": {"correlation": 4}})J");
  ASSERT_EQ(trace.ranks.size(), 1u);
  const trace::Rank& rank = trace.ranks[0];
  const ReplayPlan plan = plan_of(trace);
  EXPECT_EQ(plan.gap, 1'000);
  EXPECT_EQ(replay(rank, plan, {}).start, (Column<std::int64_t>{10'000, 21'000, 60'000, 71'000}));
  Changes changes;
  for (trace::Row row = 0; row < rank.events.size(); ++row)
    if (trace.name(rank, row) == "slow") changes.host.push_back({row, 0});
  EXPECT_EQ(replay(rank, plan, changes).start, (Column<std::int64_t>{10'000, 21'000, 32'000, 43'000}));
}

// d's launch waits from 30 until the queue has room, when c starts at 130 after b of another stream. With b
// shortened to 20 µs, c starts at 50 and d's launch returns 2 µs later. If the end of a (before c on its
// stream) decided, the launch would stay until 130.
TEST(Replay, ALaunchWaitsUntilTheQueueHasRoom) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 0, "dur": 4, "args": {"correlation": 1}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 5, "dur": 4, "args": {"correlation": 2}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 10, "dur": 4, "args": {"correlation": 3}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 30, "dur": 102, "args": {"correlation": 4}},
    {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 10, "dur": 10, "args": {"correlation": 1}},
    {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 8, "ts": 29, "dur": 100, "args": {"correlation": 2}},
    {"ph": "X", "cat": "kernel", "name": "c", "pid": 0, "tid": 7, "ts": 130, "dur": 10, "args": {"correlation": 3}},
    {"ph": "X", "cat": "kernel", "name": "d", "pid": 0, "tid": 7, "ts": 141, "dur": 10, "args": {"correlation": 4}})J");
  ASSERT_EQ(trace.ranks.size(), 1u);
  const trace::Rank& rank = trace.ranks[0];
  std::vector<Waiting> waits(rank.events.size(), Waiting::no);
  for (trace::Row row = 0; row < rank.events.size(); ++row)
    if (rank.events.duration(row) == 102'000) waits[row] = Waiting::queue;
  const ReplayPlan plan = replay_plan(trace, rank, waits, {});
  ASSERT_EQ(plan.calls.size(), 4u);
  EXPECT_EQ(event_name(trace, plan, plan.calls[3].until), "c");
  EXPECT_EQ(plan.calls[3].epilogue, 2'000);
  EXPECT_EQ(replay(rank, plan, {}).start, (Column<std::int64_t>{10'000, 29'000, 130'000, 141'000}));
  Changes changes;
  changes.device = {1, 0.2, 1, 1};  // a, b, c, d
  EXPECT_EQ(replay(rank, plan, changes).start, (Column<std::int64_t>{10'000, 29'000, 50'000, 61'000}));
}

}  // namespace
}  // namespace stepscope::derive
