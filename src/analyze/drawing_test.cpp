// What is drawn into a recording. Times are µs in the traces, ns in the drawings.
#include "analyze/drawing.h"

#include "make_rank.h"

namespace stepscope::analyze {
namespace {

using report::Drawing;
using test::params;

// Stream 7: a kernel at 10–30, launched at 5, and a copy of 1,000 bytes at 60–70, launched at 9.
trace::Trace two_events() {
  return test::open_events(R"J(
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 6, "ts": 2, "dur": 20},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 6, "ts": 5, "dur": 3, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 5, "tid": 6, "ts": 9, "dur": 4, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10, "dur": 20, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7, "ts": 60, "dur": 10, "args": {"device": 0, "stream": 7, "correlation": 2, "bytes": 1000, "memory bandwidth (GB/s)": 0.1}}
)J");
}

Drawing drawn(const trace::Trace& trace, const std::vector<std::string>& what,
              const report::Params& asked = {}) {
  return std::move(sketch_of(Derived(trace, asked), trace.ranks[0], what, asked).drawing());
}

using Points = std::vector<std::pair<std::int64_t, double>>;
Points points_of(const Drawing& drawing) {
  Points points;
  for (const Drawing::Point& point : drawing.points) points.emplace_back(point.time, point.value);
  return points;
}

// The path: the op from 2 to the launch at 5, the kernel at 10, then the copy on its stream. It has one
// launch.
TEST(Drawing, OfTheCriticalPath) {
  const trace::Trace trace = two_events();
  const Drawing drawing = drawn(trace, {"critical_path"});
  EXPECT_EQ(drawing.events, 5);
  EXPECT_EQ(drawing.critical, (std::vector<std::uint32_t>{0, 1, 3, 4}));
  ASSERT_EQ(drawing.arrows.size(), 1u);
  const Drawing::Arrow& launch = drawing.arrows[0];
  EXPECT_EQ(launch.type, "kernel_launch_delay");
  EXPECT_TRUE(launch.critical);
  EXPECT_EQ((std::vector{launch.from, launch.to, launch.weight}),
            (std::vector<std::int64_t>{5000, 10000, 5000}));
  EXPECT_EQ(drawing.lanes[launch.from_lane].tid, "6");
  EXPECT_EQ(drawing.lanes[launch.to_lane].tid, "7");
}

// All edges: along the thread (mm to launch, launch to its end, to the copy's call, to its end, to mm's end),
// through the lock (within the launch, within the copy's call, and between them), launch to kernel, within
// the kernel, within the copy, and between these two.
TEST(Drawing, OfAllEdges) {
  const trace::Trace trace = two_events();
  const Drawing drawing = drawn(trace, {"critical_path"}, params({{"all-edges", "true"}}));
  const Drawing path =
      drawn(trace, {"critical_path"}, params({{"all-edges", "true"}, {"only-critical", "true"}}));
  EXPECT_GT(drawing.arrows.size(), 7u);
  std::size_t critical = 0;
  for (const Drawing::Arrow& arrow : drawing.arrows) {
    critical += arrow.critical;
    EXPECT_LE(arrow.from, arrow.to);
    if (arrow.type == "kernel_kernel_delay") {
      EXPECT_EQ(arrow.from, 29'999);  // inside the kernel
      EXPECT_EQ(arrow.to, 60'000);
    }
  }
  EXPECT_EQ(critical, 5u);
  EXPECT_TRUE(path.only_critical);
  EXPECT_EQ(path.arrows.size(), 1u);
}

TEST(Drawing, OfQueuesAndCopies) {
  const trace::Trace trace = two_events();
  for (const report::Params& asked : {report::Params{}, params({{"hta-compat", "true"}})}) {
    const Drawing queue = drawn(trace, {"queue_length"}, asked);
    EXPECT_EQ(queue.counters.at(0).name, "Queue Length (stream 7)");
    EXPECT_EQ(points_of(queue), (Points{{5000, 1}, {9000, 2}, {10000, 1}, {60000, 0}}));
    const Drawing copies = drawn(trace, {"memory_bandwidth"}, asked);
    EXPECT_EQ(copies.counters.at(0).name, "Memcpy HtoD");
    EXPECT_EQ(copies.counters[0].pid, "0");
    ASSERT_EQ(copies.points.size(), 2u);
    EXPECT_NEAR(copies.points[0].value, 0.1, 1e-9);
    EXPECT_EQ(copies.points[0].time, 60'000);
    EXPECT_NEAR(copies.points[1].value, 0, 1e-9);
  }
}

TEST(Drawing, SaysWhatCannotBeDrawn) {
  EXPECT_EQ(undrawable({"critical_path", "queue_length"}), "");
  EXPECT_NE(undrawable({"critcal_path"}).find("critical_path"), std::string::npos);
  for (const char* flag : {"only-critical", "all-edges", "annotation", "instance"}) {
    EXPECT_EQ(undrawable({"queue_length", "critical_path"}, params({{flag, "1"}})), "");
    EXPECT_EQ(undrawable({}, params({{flag, "1"}})), "");
    EXPECT_NE(undrawable({"queue_length"}, params({{flag, "1"}})), "");
  }
}

// An op of 4 µs and an op of 8 µs, each in a step of its own.
TEST(CriticalPath, OfARangeOfSteps) {
  const trace::Trace trace = test::open_events(R"J(
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 5, "tid": 5, "ts": 0, "dur": 10},
{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 5, "tid": 5, "ts": 1, "dur": 4},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 5, "tid": 5, "ts": 11, "dur": 10},
{"ph": "X", "cat": "cpu_op", "name": "b", "pid": 5, "tid": 5, "ts": 12, "dur": 8},
{"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#4", "pid": 0, "tid": 7, "ts": 12, "dur": 8}
)J");
  for (const auto& [instances, time] :
       {std::pair("0", "4000"), {"1", "8000"}, {"0-1", "12000"}, {"1-7", "8000"}})
    EXPECT_EQ(test::cells(test::answer("critical_path", trace, params({{"instance", instances}})).tables[0],
                          "time"),
              test::Cells{time})
        << instances;
  const auto told = [&](std::initializer_list<std::pair<std::string, std::string>> asked) {
    const report::Report report = test::answer("critical_path", trace, params(asked));
    return std::pair(report.tables[0].rows(), report.notes);
  };
  using Notes = std::vector<std::string>;
  const Notes two = {
      "There is no range number 2: 2 ranges have a name that contains 'ProfilerStep', numbered 0 to 1."};
  EXPECT_EQ(told({{"instance", "2"}}), std::pair(std::size_t{0}, two));
  EXPECT_EQ(told({{"instance", "1-7"}}), std::pair(std::size_t{1}, two));
  const auto [rows, notes] = told({{"annotation", "zzz"}});
  EXPECT_EQ(rows, 0u);
  EXPECT_TRUE(notes.at(0).starts_with("No range has a name that contains 'zzz': "));
}

}  // namespace
}  // namespace stepscope::analyze
