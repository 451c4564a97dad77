// What a recording holds and lacks.
#include "derive/capture.h"

#include "derive/thread_role.h"
#include "make_rank.h"

namespace stepscope {
namespace {

/// "launches 4": name and count of the facts in overview whose names start with `part`.
test::Cells counts(const trace::Trace& trace, const char* part) {
  test::Cells values;
  for (const report::Table& table : test::answer("overview", trace).tables) {
    if (table.column("fact") == nullptr || table.column("count") == nullptr) continue;
    const test::Cells names = test::cells(table, "fact"), numbers = test::cells(table, "count");
    for (std::size_t row = 0; row < names.size(); ++row)
      if (names[row].starts_with(part)) values.push_back(names[row] + " " + numbers[row]);
  }
  return values;
}

// A fill of no bytes returns at once and has no device event. The 1.1 µs fill and the launch lost theirs.
TEST(Capture, FillsOfNothingLackNoDeviceEvent) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemsetAsync", "pid": 5, "tid": 5, "ts": 10, "dur": 1, "args": {"correlation": 1}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemsetAsync", "pid": 5, "tid": 5, "ts": 20, "dur": 1.1, "args": {"correlation": 2}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 30, "dur": 1, "args": {"correlation": 3}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemsetAsync", "pid": 5, "tid": 5, "ts": 40, "dur": 1, "args": {"correlation": 4}},
    {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0, "tid": 7, "ts": 45, "dur": 1, "args": {"correlation": 4}})J");
  EXPECT_EQ(counts(trace, "launches"), (test::Cells{"launches 4", "launches_without_device 2"}));
}

// The same thread once as calls and once as samples, which last longer than its one operator.
constexpr const char* kSampled = R"J(
    {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 5, "tid": 5, "ts": 10, "dur": 5},
    {"ph": "X", "cat": "python_function", "name": "a.py(1): f", "pid": 5, "tid": 5, "ts": 9, "dur": 7},
    {"ph": "X", "cat": "python_function", "name": "a.py(9): g", "pid": 5, "tid": 1073741829, "ts": 0, "dur": 90, "args": {"sampled": 1}},
    {"ph": "X", "cat": "python_function", "name": "a.py(2): f", "pid": 5, "tid": 1073741829, "ts": 0, "dur": 80, "args": {"sampled": 1}})J";

TEST(Capture, SamplesAreNoCalls) {
  EXPECT_EQ(counts(test::open_events(kSampled), "python_calls"), test::Cells{"python_calls 1"});
}

TEST(Capture, ATrackOfSamplesIsNotTheMainThread) {
  const trace::Trace trace = test::open_events(kSampled);
  const auto roles = derive::thread_roles(trace, trace.ranks[0]);
  const auto is_sampled = derive::sampled_tracks(trace, trace.ranks[0]);
  ASSERT_EQ(roles.size(), 2U);
  for (std::size_t t = 0; t < 2; ++t)
    EXPECT_EQ(roles[t], is_sampled[t] ? derive::ThreadRole::other : derive::ThreadRole::main);
  EXPECT_NE(is_sampled[0], is_sampled[1]);
}

// The queue's thread waits for 90 µs in Python; the other one works for 5 of its 80.
TEST(Capture, AThreadThatWaitsInPythonIsNotTheMainThread) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "python_function", "name": "train.py(1): main", "pid": 5, "tid": 5, "ts": 10, "dur": 80},
    {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 5, "tid": 5, "ts": 20, "dur": 5},
    {"ph": "X", "cat": "python_function", "name": "threading.py(295): wait", "pid": 5, "tid": 6, "ts": 5, "dur": 90})J");
  const auto roles = derive::thread_roles(trace, trace.ranks[0]);
  ASSERT_EQ(trace.ranks[0].tracks[0].tid, "5");
  EXPECT_EQ(roles[0], derive::ThreadRole::main);
  EXPECT_EQ(roles[1], derive::ThreadRole::other);
}

// A worker fetches for 90 µs while the program's operators take 5.
TEST(Capture, AWorkerOfALoaderIsNotTheMainThread) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "M", "name": "process_name", "pid": 6, "args": {"name": "DataLoader worker 0"}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 5, "tid": 5, "ts": 20, "dur": 5},
    {"ph": "X", "cat": "user_annotation", "name": "DataLoader.fetch", "pid": 6, "tid": 6, "ts": 5, "dur": 90})J");
  const auto roles = derive::thread_roles(trace, trace.ranks[0]);
  for (std::size_t t = 0; t < roles.size(); ++t)
    EXPECT_EQ(roles[t] == derive::ThreadRole::main, trace.ranks[0].tracks[t].pid == "5") << t;
}

// A thread that only writes files for 90 µs beside an operator of 5.
TEST(Capture, AThreadThatWritesFilesIsNotTheMainThread) {
  const char* alone = R"J(
    {"ph": "X", "cat": "POSIX", "name": "write", "pid": 5, "tid": 6, "ts": 5, "dur": 90},
    {"ph": "X", "cat": "POSIX", "name": "read", "pid": 5, "tid": 5, "ts": 40, "dur": 2})J";
  const std::string both =
      std::string(alone) +
      R"J(,{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 5, "tid": 5, "ts": 20, "dur": 5})J";
  const trace::Trace trace = test::open_events(both.c_str()), only = test::open_events(alone);
  const auto roles = derive::thread_roles(trace, trace.ranks[0]);
  EXPECT_EQ(roles, (std::vector{derive::ThreadRole::main, derive::ThreadRole::other}));
  EXPECT_EQ(derive::thread_roles(only, only.ranks[0]),
            (std::vector{derive::ThreadRole::other, derive::ThreadRole::main}))
      << "where files are all that is recorded, the busiest thread is";
}

// Devices repeat the annotations of their host.
TEST(Capture, CallsOfDataParallelModulesCountOnTheHost) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "user_annotation", "name": "DistributedDataParallel.forward", "pid": 5, "tid": 5, "ts": 10, "dur": 5},
    {"ph": "X", "cat": "user_annotation", "name": "DistributedDataParallel.forward", "pid": 5, "tid": 5, "ts": 20, "dur": 5},
    {"ph": "X", "cat": "gpu_user_annotation", "name": "DistributedDataParallel.forward", "pid": 0, "tid": 7, "ts": 12, "dur": 5},
    {"ph": "X", "cat": "user_annotation", "name": "DataParallel.forward", "pid": 5, "tid": 5, "ts": 30, "dur": 5})J");
  EXPECT_EQ(counts(trace, "data_parallel"), test::Cells{"data_parallel_calls 1"});
  EXPECT_EQ(counts(trace, "ddp_"), test::Cells{"ddp_calls 2"});
}

}  // namespace
}  // namespace stepscope
