// HTA's answers, and our answers built like HTA's. Times in the traces are µs.
#include "make_rank.h"

namespace stepscope {
namespace {

using report::Table;
using test::answer;
using test::cells;
using test::Cells;

Cells column(const trace::Trace& trace, const char* analysis, std::size_t table, const char* name,
             const report::Params& params = {}) {
  return cells(answer(analysis, trace, params).tables.at(table), name);
}

/// A column of HTA's answer: the tables of all its forms of the question are concatenated.
Cells hta_column(const trace::Trace& trace, const char* question, std::size_t table, const char* name,
                 report::Params params = {}) {
  params.set("hta-compat", "true");
  return column(trace, question, table, name, params);
}

// Stream 7: kernels 10–30 and 70–90, a copy of 1,000 bytes 60–70 between them; stream 8: a collective 20–50.
trace::Trace four_events() {
  return test::open_events(R"J(
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 2, "dur": 20},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 5, "dur": 3, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 5, "tid": 5, "ts": 9, "dur": 4, "args": {"correlation": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 15, "dur": 2, "args": {"correlation": 3}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 65, "dur": 8, "args": {"correlation": 4}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10, "dur": 20, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 8, "ts": 20, "dur": 30, "args": {"device": 0, "stream": 8, "correlation": 3}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7, "ts": 60, "dur": 10, "args": {"device": 0, "stream": 7, "correlation": 2, "bytes": 1000, "memory bandwidth (GB/s)": 0.1}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 70, "dur": 20, "args": {"device": 0, "stream": 7, "correlation": 4}}
)J");
}

TEST(Breakdowns, OfADevicesTime) {
  const trace::Trace trace = four_events();
  EXPECT_EQ(hta_column(trace, "steps", 0, "total"), Cells{"80000"});
  EXPECT_EQ(hta_column(trace, "steps", 0, "compute"), Cells{"40000"});
  EXPECT_EQ(hta_column(trace, "steps", 0, "non_compute"), Cells{"30000"});
  EXPECT_EQ(hta_column(trace, "steps", 0, "idle"), Cells{"10000"});
  EXPECT_EQ(hta_column(trace, "steps", 1, "type"),
            (Cells{"COMPUTATION", "COMMUNICATION", "COMPUTATION overlapping COMMUNICATION", "MEMORY"}));
  EXPECT_EQ(hta_column(trace, "steps", 1, "time"), (Cells{"30000", "20000", "10000", "10000"}));
  EXPECT_EQ(hta_column(trace, "steps", 2, "communication"), Cells{"30000"});
  EXPECT_EQ(hta_column(trace, "steps", 2, "hidden"), Cells{"10000"});
}

// Of 10.1 to 11.6 no whole microsecond is left, yet HTA's time begins at 11 with it.
TEST(Breakdowns, TimeBeginsWithAnEventThatRoundsToNothing) {
  const trace::Trace trace = test::open_events(R"J(
{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 5, "tid": 5, "ts": 5, "dur": 1, "args": {"correlation": 1}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7, "ts": 10.1, "dur": 1.5, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 60, "dur": 20, "args": {"device": 0, "stream": 7, "correlation": 2}}
)J");
  EXPECT_EQ(hta_column(trace, "steps", 0, "total"), Cells{"69000"});
  EXPECT_EQ(hta_column(trace, "steps", 0, "idle"), Cells{"49000"});
}

// HTA pairs launches by their correlation, wherever they are in the file; its queues leave out the first
// event.
TEST(Breakdowns, FirstEventOfTheFileIsALaunchLikeOthers) {
  const std::string kernel =
      R"J({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10, "dur": 20, "args": {"device": 0, "stream": 7, "correlation": 1}})J";
  const std::string call =
      R"J({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 5, "dur": 3, "args": {"correlation": 1}})J";
  const trace::Trace kernel_first = test::open_events(kernel + "," + call);
  const trace::Trace call_first = test::open_events(call + "," + kernel);
  for (const trace::Trace* trace : {&kernel_first, &call_first}) {
    const report::Report launches =
        analyze::run(*analyze::find("launches"), *trace, test::params({{"hta-compat", "true"}}));
    EXPECT_EQ(cells(launches.tables.at(1), "delay"), Cells{"2000"});
    EXPECT_EQ(cells(launches.tables.at(1), "call"), Cells{"3000"});
  }
}

TEST(Breakdowns, OfKernelsByType) {
  const trace::Trace trace = four_events();
  EXPECT_EQ(hta_column(trace, "kernels", 0, "name"),
            (Cells{"gemm", "ncclDevKernel_AllReduce", "Memcpy HtoD (Pinned -> Device)"}));
  EXPECT_EQ(hta_column(trace, "kernels", 0, "count"), (Cells{"2", "1", "1"}));
  EXPECT_EQ(hta_column(trace, "kernels", 0, "sum"), (Cells{"40000", "30000", "10000"}));
  EXPECT_EQ(hta_column(trace, "kernels", 0, "std"), (Cells{"0", "0", "0"}));
}

// Gaps of stream 7. 30–60: other, because the copy was launched at 9, before the gap, and 30 µs are too long
// for kernel_wait. 70–70: kernel_wait. HTA always adds a row "other" for each stream.
TEST(Breakdowns, OfGaps) {
  const trace::Trace trace = four_events();
  EXPECT_EQ(hta_column(trace, "idle", 0, "stream"), (Cells{"7", "7", "8"}));
  EXPECT_EQ(hta_column(trace, "idle", 0, "category"), (Cells{"kernel_wait", "other", "other"}));
  EXPECT_EQ(hta_column(trace, "idle", 0, "idle"), (Cells{"0", "30000", "0"}));
  EXPECT_EQ(hta_column(trace, "idle", 0, "idle", test::params({{"kernel-delay", "31"}})),
            (Cells{"30000", "0", "0"}));
}

TEST(Breakdowns, OfGapsThatTheHostMade) {
  const trace::Trace trace = test::open_events(R"J(
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 1, "dur": 1, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 31, "dur": 1, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 10, "dur": 20, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 40, "dur": 5, "args": {"device": 0, "stream": 7, "correlation": 2}}
)J");
  EXPECT_EQ(hta_column(trace, "idle", 0, "category"), (Cells{"host_wait", "other"}));
  EXPECT_EQ(hta_column(trace, "idle", 0, "idle"), (Cells{"10000", "0"}));
}

// Stream 7: +1 at 5 and 9, -1 at 10 and 60, +1 at 65, -1 at 70; stream 8: +1 at 15, -1 at 20.
TEST(Breakdowns, OfQueues) {
  const trace::Trace trace = four_events();
  EXPECT_EQ(hta_column(trace, "launches", 3, "stream"), (Cells{"7", "8"}));
  EXPECT_EQ(hta_column(trace, "launches", 3, "count"), (Cells{"6", "2"}));
  EXPECT_EQ(hta_column(trace, "launches", 3, "max"), (Cells{"2", "1"}));
  EXPECT_EQ(hta_column(trace, "launches", 4, "length"), (Cells{"1", "2", "1", "0", "1", "0", "1", "0"}));
  EXPECT_EQ(hta_column(trace, "launches", 3, "full", test::params({{"limit", "2"}})), (Cells{"1000", "0"}));
}

TEST(Breakdowns, OfCopiesAndLaunches) {
  const trace::Trace trace = four_events();
  EXPECT_EQ(hta_column(trace, "copies", 0, "mean"), Cells{"1e+08"});
  EXPECT_EQ(hta_column(trace, "copies", 0, "kind"), Cells{"Memcpy HtoD"});
  EXPECT_EQ(hta_column(trace, "launches", 1, "correlation"), (Cells{"1", "3", "2", "4"}));
  EXPECT_EQ(hta_column(trace, "launches", 1, "call"), (Cells{"3000", "2000", "4000", "8000"}));
  EXPECT_EQ(hta_column(trace, "launches", 1, "delay"), (Cells{"2000", "3000", "47000", "0"}));
  EXPECT_EQ(hta_column(trace, "launches", 0, "late", test::params({{"delay-cutoff", "10"}})), Cells{"1"});
}

TEST(Breakdowns, OfWhatOperatorsLaunch) {
  const trace::Trace trace = four_events();
  EXPECT_EQ(hta_column(trace, "launches", 2, "sequence"), Cells{"gemm -> ncclDevKernel_AllReduce"});
  EXPECT_EQ(hta_column(trace, "launches", 2, "launch_delay"), Cells{"3000"});
  EXPECT_EQ(hta_column(trace, "launches", 2, "start_delay"), Cells{"5000"});
  EXPECT_EQ(column(trace, "kernel_sequences", 0, "sequence", test::params({{"operator", "aten::mm"}})),
            Cells{"aten::mm|gemm|ncclDevKernel_AllReduce|Memcpy HtoD (Pinned -> Device)"});
  EXPECT_EQ(column(trace, "kernel_sequences", 0, "kernel_time", test::params({{"operator", "aten::mm"}})),
            Cells{"60000"});
}

// The op runs from 2; its first launch at 5 leads to the kernel at 10; the copy follows it on the stream, the
// last kernel follows the copy: 3 + 5 + 20 + 30 + 10 + 0 + 20 µs.
TEST(Breakdowns, OfTheLongestPath) {
  const trace::Trace trace = four_events();
  EXPECT_EQ(
      column(trace, "critical_path", 0, "bound_by"),
      (Cells{"cpu_bound", "gpu_compute_bound", "gpu_kernel_kernel_overhead", "gpu_kernel_launch_overhead"}));
  EXPECT_EQ(column(trace, "critical_path", 0, "time"), (Cells{"3000", "50000", "30000", "5000"}));
}

}  // namespace
}  // namespace stepscope
