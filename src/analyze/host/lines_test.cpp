#include <fmt/format.h>
#include <gtest/gtest.h>

#include "make_program.h"
#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;
using test::EventText;

report::Report lines_in(const EventText& events) {
  return test::answer("lines", test::open_events(events.text()));
}

std::string cell(const report::Table& table, const std::string& line, const std::string& column) {
  const Cells lines = cells(table, "line");
  const auto at = std::find(lines.begin(), lines.end(), line);
  return at == lines.end() ? "none" : cells(table, column)[static_cast<std::size_t>(at - lines.begin())];
}

// Calls, whose times are exact. One step of 1,000 µs: main holds it; batch takes [100,400), of which
// re.py [150,350) belongs to the line of batch; forward [400,600) calls an operator whose backward pass takes
// [600,900).
TEST(Lines, OfCalls) {
  EventText events;
  events.add("user_annotation", "ProfilerStep#1", 5, 5, 0, 1000);
  events.add("python_function", "train.py(9): main", 5, 5, 0, 1000);
  events.add("python_function", "train.py(20): batch", 5, 5, 100, 300);
  events.add("python_function", "re.py(30): sub", 5, 5, 150, 200);
  events.add("python_function", "train.py(40): forward", 5, 5, 400, 200);
  events.add("python_function", "torch/nn/functional.py(50): linear", 5, 5, 410, 180);
  events.add("cpu_op", "aten::linear", 5, 5, 420, 160,
             R"("Sequence number": 7, "Input Dims": [[8, 4], [2, 4]])");
  events.add("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 5, 5, 600, 300,
             R"("Sequence number": 7)");
  const report::Report report = lines_in(events);
  const report::Table& lines = report.tables[0];
  EXPECT_EQ(cells(lines, "line"),
            (Cells{"train.py(9): main", "train.py(20): batch", "train.py(40): forward"}));
  EXPECT_EQ(cells(lines, "total"), (Cells{"1000000", "300000", "200000"}));
  EXPECT_EQ(cells(lines, "self"), (Cells{"500000", "300000", "200000"}));
  EXPECT_EQ(cells(lines, "share"), (Cells{"1", "0.3", "0.2"}));
  EXPECT_EQ(cell(lines, "train.py(20): batch", "calls"), "re.py(30): sub");
  EXPECT_EQ(cell(lines, "train.py(20): batch", "besides"), "300000");
  EXPECT_EQ(cell(lines, "train.py(40): forward", "in_ops"), "160000");
  EXPECT_EQ(cell(lines, "train.py(40): forward", "backward"), "300000");
  EXPECT_EQ(cell(lines, "train.py(40): forward", "ops"), "1");
  // The forward pass begins with the operator: 20 µs before it are the program's own.
  EXPECT_EQ(cell(lines, "train.py(40): forward", "besides"), "20000");
  const report::Table& nodes = report.tables[1];
  EXPECT_EQ(cells(nodes, "depth"), (Cells{"0", "1", "1"}));
  EXPECT_EQ(cell(nodes, "train.py(9): main", "work"), "460000");
  EXPECT_EQ(cell(nodes, "train.py(40): forward", "op"), "aten::linear");
  EXPECT_EQ(cell(nodes, "train.py(40): forward", "inputs"), "[[8, 4], [2, 4]]");
}

// Samples every 100 µs on a track beside the thread: line 20 at 0 and 100, line 30 at 200. The operator of 5
// µs at 110 has no sample of its own, that at 195 has one, at 200: both are given to line 30.
TEST(Lines, OfSamples) {
  EventText events;
  events.add("user_annotation", "ProfilerStep#1", 5, 5, 0, 300);
  for (const int at : {110, 195}) events.add("cpu_op", "aten::add", 5, 5, at, 10);
  const std::string sampled = R"("sampled": 5, "samples": )";
  events.add("python_function", "train.py(20): f", 5, 1073741829, 0, 200, sampled + "2");
  events.add("python_function", "train.py(30): f", 5, 1073741829, 200, 100, sampled + "1");
  const report::Table lines = lines_in(events).tables[0];
  EXPECT_EQ(cells(lines, "line"), (Cells{"train.py(20): f", "train.py(30): f"}));
  EXPECT_EQ(cells(lines, "total"), (Cells{"200000", "100000"}));
  EXPECT_EQ(cells(lines, "in_ops"), (Cells{"0", "100000"}));
  EXPECT_EQ(cells(lines, "ops"), (Cells{"0", "2"}));
}

// The backward pass [400,1000) calls the hook [500,800), whose operator takes 100 of its 300 µs.
TEST(Lines, OfAHookOfTheBackwardPass) {
  EventText events;
  events.add("user_annotation", "ProfilerStep#1", 5, 5, 0, 1000);
  events.add("python_function", "train.py(9): main", 5, 5, 0, 1000);
  events.add("cpu_op", "aten::mm", 5, 5, 10, 380, R"("Sequence number": 7)");
  events.add("python_function", "torch/_tensor.py(5): backward", 5, 5, 400, 600);
  events.add("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 5, 5, 410, 580,
             R"("Sequence number": 7)");
  events.add("python_function", "train.py(20): hook", 5, 5, 500, 300);
  events.add("cpu_op", "aten::mean", 5, 5, 600, 100);
  const report::Table lines = lines_in(events).tables[0];
  EXPECT_EQ(cell(lines, "train.py(20): hook", "total"), "300000");
  EXPECT_EQ(cell(lines, "train.py(20): hook", "besides"), "200000");
  // mm's 380 µs and its node's 580, of which 300 are the hook's; work includes what lines below called.
  const report::Table tree = lines_in(events).tables[1];
  EXPECT_EQ(cells(tree, "work"), (Cells{"760000", "100000"}));
}

// Line 36 asks for a gradient [100,300): a pass through mm, in which its node calls another mm. The pass
// through that one, [420,720), is work of line 36; the pass through the first one, also [720,920), is work of
// line 20.
TEST(Lines, OfGradientsOfGradients) {
  EventText events;
  events.add("user_annotation", "ProfilerStep#1", 5, 5, 0, 1000);
  events.add("python_function", "train.py(9): main", 5, 5, 0, 1000);
  events.add("python_function", "train.py(20): forward", 5, 5, 0, 50);
  events.add("cpu_op", "aten::mm", 5, 5, 10, 40, R"("Sequence number": 7)");
  events.add("python_function", "train.py(36): partials", 5, 5, 100, 200);
  const std::string node = "autograd::engine::evaluate_function: MmBackward0";
  events.add("cpu_op", node, 5, 5, 100, 200, R"("Sequence number": 7)");
  events.add("cpu_op", "MmBackward0", 5, 5, 110, 190, R"("Sequence number": 7)");
  events.add("cpu_op", "aten::mm", 5, 5, 120, 150, R"("Sequence number": 8)");
  events.add("python_function", "train.py(99): step", 5, 5, 420, 500);
  events.add("cpu_op", node, 5, 5, 420, 300, R"("Sequence number": 8)");
  events.add("cpu_op", node, 5, 5, 720, 200, R"("Sequence number": 7)");
  const report::Table tree = lines_in(events).tables[1];
  EXPECT_EQ(cell(tree, "train.py(36): partials", "work"), "300000");
  EXPECT_EQ(cell(tree, "train.py(20): forward", "work"), "440000");  // 40 + 200 + 200
  EXPECT_EQ(cell(tree, "train.py(99): step", "work"), "0");
}

// A loader's range [0,500): of it 300 µs unpack tensors. Line 40 accesses a parametrized weight for 200 µs,
// also in the parametrization's own line 50.
TEST(Lines, OfUnpackingAndParametrizations) {
  EventText events;
  events.add("user_annotation", "ProfilerStep#1", 5, 5, 0, 1000);
  events.add("python_function", "train.py(9): main", 5, 5, 0, 1000);
  events.add("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 5, 5, 0,
             500);
  events.add("python_function", "torch/multiprocessing/reductions.py(541): rebuild_storage_fd", 5, 5, 200,
             300);
  events.add("python_function", "train.py(40): forward", 5, 5, 500, 400);
  events.add("python_function", "torch/nn/utils/parametrize.py(370): get_parametrized", 5, 5, 600, 200);
  events.add("python_function", "train.py(50): Skew.forward", 5, 5, 650, 100);
  const report::Report report = lines_in(events);
  EXPECT_EQ(cells(report.tables[2], "unpacking"), (Cells{"300000"}));
  EXPECT_EQ(cell(report.tables[1], "train.py(40): forward", "parametrizing"), "200000");
  EXPECT_EQ(cell(report.tables[1], "train.py(50): Skew.forward", "parametrizing"), "0");
}

// 134 = 2 × 67, 122 = 2 × 61, 59 is under the bound. The inverse transform of 68 frequencies counts for the
// length 134 that was seen; 10 frequencies are of no length seen. Times: 100 + 50 of 134, 30 of 122.
TEST(Lines, FourierTransformsOfAwkwardLengths) {
  EventText events;
  events.add("user_annotation", "ProfilerStep#1", 5, 5, 0, 1000);
  events.add("cpu_op", "aten::fft_rfft", 5, 5, 0, 110, R"("Input Dims": [[4, 100], []])");
  events.add("cpu_op", "aten::_fft_r2c", 5, 5, 5, 100, R"("Input Dims": [[4, 134], [], [], []])");
  events.add("cpu_op", "aten::_fft_c2r", 5, 5, 200, 50, R"("Input Dims": [[4, 68], [], [], []])");
  events.add("cpu_op", "aten::_fft_c2r", 5, 5, 260, 50, R"("Input Dims": [[4, 10], [], [], []])");
  events.add("cpu_op", "aten::_fft_c2c", 5, 5, 320, 30, R"("Input Dims": [[122], [], [], []])");
  events.add("cpu_op", "aten::_fft_r2c", 5, 5, 400, 90, R"("Input Dims": [[4, 59], [], [], []])");
  events.add("cpu_op", "aten::_fft_r2c", 5, 5, 500, 90,
             R"("Input Dims": [[4000000007], [], [], []])");  // too long
  const report::Table ffts = lines_in(events).tables[7];
  EXPECT_EQ(cells(ffts, "length"), (Cells{"134", "122"}));
  EXPECT_EQ(cells(ffts, "factor"), (Cells{"67", "61"}));
  EXPECT_EQ(cells(ffts, "padded"), (Cells{"135", "125"}));
  EXPECT_EQ(cells(ffts, "calls"), (Cells{"2", "1"}));
  EXPECT_EQ(cells(ffts, "time"), (Cells{"150000", "30000"}));
  EXPECT_EQ(cells(ffts, "op"), (Cells{"aten::fft_rfft", "aten::_fft_c2c"}));
  EXPECT_EQ(cells(ffts, "inputs"), (Cells{"[[4, 100], []]", "[[122], [], [], []]"}));
}

// A worker's samples every 100 µs. Those at 200, 300 and 400 fall into the fetching of [150, 450); re.py
// belongs to the line that calls it.
TEST(Lines, OfWorkersWhileTheyFetch) {
  EventText events;
  events.add("user_annotation", "ProfilerStep#1", 5, 5, 0, 1000);
  events.add("cpu_op", "aten::mm", 5, 5, 0, 1000);
  events.add("user_annotation", "DataLoader.fetch", 6, 6, 150, 300);
  const std::string sampled = R"("sampled": 6, "samples": )";
  events.add("python_function", "train.py(9): <module>", 6, 1073741830, 100, 500, sampled + "5");
  events.add("python_function", "train.py(20): read", 6, 1073741830, 100, 200, sampled + "2");
  events.add("python_function", "train.py(30): read", 6, 1073741830, 300, 200, sampled + "2");
  events.add("python_function", "re.py(30): sub", 6, 1073741830, 300, 100, sampled + "1");
  const report::Table workers = lines_in(events).tables[4];
  EXPECT_EQ(cells(workers, "line"),
            (Cells{"train.py(30): read", "train.py(20): read", "train.py(9): <module>"}));
  EXPECT_EQ(cells(workers, "self"), (Cells{"200000", "100000", "0"}));
  EXPECT_EQ(cells(workers, "total"), (Cells{"200000", "100000", "300000"}));
  EXPECT_EQ(cell(workers, "train.py(30): read", "calls"), "re.py(30): sub");
}

// A forked worker's outer frames are those in which its parent forked. Two samples of 200 µs in 300 µs of
// fetching: one in the loader, one in the program's data set.
TEST(Lines, OfWorkersWithoutTheirParents) {
  EventText events;
  events.add("user_annotation", "ProfilerStep#1", 5, 5, 0, 1000);
  events.add("user_annotation", "DataLoader.fetch", 6, 6, 150, 300);
  const std::string sampled = R"("sampled": 6, "samples": )";
  events.add("python_function", "train.py(9): <module>", 6, 1073741830, 100, 500, sampled + "5");
  events.add("python_function", "torch/utils/data/_utils/worker.py(375): _worker_loop", 6, 1073741830, 200,
             400, sampled + "2");
  events.add("python_function", "train.py(30): __getitem__", 6, 1073741830, 400, 200, sampled + "1");
  const report::Table workers = lines_in(events).tables[4];
  EXPECT_EQ(cells(workers, "line"), (Cells{"train.py(30): __getitem__"}));
  EXPECT_EQ(cells(workers, "self"), (Cells{"200000"}));
  EXPECT_EQ(cells(workers, "share"), (Cells{"0.5"}));
}

// Two threads that answer requests, one after the other, and one that waits for them.
TEST(Lines, OfOtherThreads) {
  EventText events;
  events.add("user_annotation", "ProfilerStep#1", 5, 5, 0, 1000);
  const auto sampled = [](int thread) { return fmt::format(R"("sampled": {}, "samples": 1)", thread); };
  events.add("python_function", "serve.py(40): answer", 5, 1073741830, 100, 200, sampled(6));
  events.add("python_function", "json/decoder.py(9): decode", 5, 1073741830, 200, 100, sampled(6));
  events.add("python_function", "serve.py(40): answer", 5, 1073741831, 400, 300, sampled(7));
  events.add("python_function", "serve.py(9): <module>", 5, 1073741832, 0, 1000, sampled(8));
  events.add("python_function", "selectors.py(415): select", 5, 1073741832, 100, 900, sampled(8));
  const report::Table threads = lines_in(events).tables[9];
  EXPECT_EQ(cells(threads, "line"), (Cells{"serve.py(40): answer", "serve.py(9): <module>"}));
  EXPECT_EQ(cells(threads, "self"), (Cells{"500000", "100000"}));
  EXPECT_EQ(cells(threads, "share"), (Cells{"0.5", "0.1"}));
}

// Operators of 10 µs, each 20 µs after the one before: 100 µs or more apart, they are not called one after
// another.
TEST(Lines, ShortOperators) {
  EventText events;
  events.add("user_annotation", "ProfilerStep#1", 5, 5, 0, 2000);
  events.add("python_function", "train.py(20): f", 5, 5, 0, 1000);
  for (int i = 0; i < 10; ++i) events.add("cpu_op", "aten::add", 5, 5, 30 * i, 10);
  events.add("cpu_op", "aten::mm", 5, 5, 400, 100);  // too long
  events.add("cpu_op", "aten::add", 5, 5, 800, 10);
  const report::Table lines = lines_in(events).tables[0];
  EXPECT_EQ(cell(lines, "train.py(20): f", "calling"), "290000");  // 9 × 30 and 2 × 10
}

// As torch.profiler writes them: files of packages without the folder that the packages are in.
TEST(Lines, OfAPackageBelongToItsCaller) {
  EventText events;
  events.add("user_annotation", "ProfilerStep#1", 5, 5, 0, 400);
  for (const char* frame :
       {"train.py(20): store", "numpy/lib/_npyio_impl.py(756): _savez", "zipfile.py(1153): write"})
    events.add("python_function", frame, 5, 5, 0, 300);
  events.add("python_function", "datasets/tiles.py(3): read", 5, 5, 300, 100);  // a folder of the program
  const report::Table lines = lines_in(events).tables[0];
  EXPECT_EQ(cells(lines, "line"), (Cells{"train.py(20): store", "datasets/tiles.py(3): read"}));
  EXPECT_EQ(cell(lines, "train.py(20): store", "calls"), "zipfile.py(1153): write");
}

TEST(Lines, WithoutStacks) {
  EventText events;
  events.add("cpu_op", "aten::add", 5, 5, 0, 10);
  EXPECT_EQ(lines_in(events).notes.size(), 1U);
}

// A line that calls itself counts once.
TEST(Lines, Recursion) {
  EventText events;
  for (int i = 0; i < 3; ++i) events.add("python_function", "tree.py(20): walk", 5, 5, i, 100 - 2 * i);
  events.add("cpu_op", "aten::add", 5, 5, 20, 10);
  const report::Table lines = lines_in(events).tables[0];
  EXPECT_EQ(cells(lines, "total"), (Cells{"100000"}));
  EXPECT_EQ(cells(lines, "self"), (Cells{"100000"}));
}

}  // namespace
}  // namespace stepscope
