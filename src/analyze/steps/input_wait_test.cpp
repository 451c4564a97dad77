#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

// Two steps of 100 µs. Step 1 waits [0,40) with a data pipe inside; the device works [10,30) and [50,90):
// exposed [0,10) and [30,40). Step 2 waits [100,110), all of it exposed.
TEST(InputWait, PerStep) {
  const report::Report report = test::answer("input_wait", test::open_events(R"J(
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 1000, "dur": 100},
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 5, "tid": 5, "ts": 1100, "dur": 100},
    {"ph": "X", "cat": "user_annotation", "name": "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "pid": 5, "tid": 5, "ts": 1000, "dur": 40},
    {"ph": "X", "cat": "user_annotation", "name": "enumerate(DataPipe)#Shuffler", "pid": 5, "tid": 5, "ts": 1010, "dur": 20},
    {"ph": "X", "cat": "user_annotation", "name": "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "pid": 5, "tid": 5, "ts": 1100, "dur": 10},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1010, "dur": 20},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1050, "dur": 40})J"));
  const report::Table& steps = report.tables[0];
  EXPECT_EQ(cells(steps, "step"), (Cells{"1", "2"}));
  EXPECT_EQ(cells(steps, "loader"), (Cells{"multi-process", "multi-process"}));
  EXPECT_EQ(cells(steps, "count"), (Cells{"1", "1"}));
  EXPECT_EQ(cells(steps, "total"), (Cells{"40000", "10000"}));
  EXPECT_EQ(cells(steps, "share"), (Cells{"0.4", "0.1"}));
  EXPECT_EQ(cells(steps, "exposed"), (Cells{"20000", "10000"}));
  EXPECT_EQ(cells(steps, "exposed_share"), (Cells{"0.2", "0.1"}));
  const report::Table& loaders = report.tables[1];
  EXPECT_EQ(cells(loaders, "loader"), (Cells{"_MultiProcessingDataLoaderIter.__next__"}));
  EXPECT_EQ(cells(loaders, "count"), (Cells{"2"}));
  EXPECT_EQ(cells(loaders, "mean"), (Cells{"25000"}));
  EXPECT_EQ(cells(report.tables[2], "start"), (Cells{"0", "100000"}));
  EXPECT_EQ(cells(report.tables[2], "exposed"), (Cells{"20000", "10000"}));
}

// Without marks the loader's own frame is the wait, and the frames below it give the kind of loader.
TEST(InputWait, FromPythonFrames) {
  const report::Report report = test::answer("input_wait", test::open_events(R"J(
    {"ph": "X", "cat": "python_function", "name": "torch/utils/data/dataloader.py(701): __next__", "pid": 5, "tid": 5, "ts": 0, "dur": 50},
    {"ph": "X", "cat": "python_function", "name": "torch/utils/data/_utils/fetch.py(50): fetch", "pid": 5, "tid": 5, "ts": 10, "dur": 30},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 60, "dur": 40})J"));
  EXPECT_EQ(cells(report.tables[0], "loader"), (Cells{"single-process"}));
  EXPECT_EQ(cells(report.tables[0], "share"), (Cells{"0.5"}));
  EXPECT_EQ(cells(report.tables[0], "exposed"), (Cells{"-"}));  // no device work is recorded
}

// The first batch is fetched in [0, 30) and taken in [50, 60); the second is fetched in [30, 90) and waited
// for from 80 to 95.
TEST(InputWait, StagesOfBatches) {
  const report::Report report = test::answer("input_wait", test::open_events(R"J(
    {"ph": "X", "cat": "user_annotation", "name": "DataLoader.fetch", "pid": 6, "tid": 6, "ts": 0, "dur": 30},
    {"ph": "X", "cat": "user_annotation", "name": "DataLoader.fetch", "pid": 6, "tid": 6, "ts": 30, "dur": 60},
    {"ph": "X", "cat": "user_annotation", "name": "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "pid": 5, "tid": 5, "ts": 50, "dur": 10},
    {"ph": "X", "cat": "user_annotation", "name": "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "pid": 5, "tid": 5, "ts": 80, "dur": 15},
    {"ph": "s", "id": 1, "cat": "batch", "name": "batch", "pid": 6, "tid": 6, "ts": 29},
    {"ph": "f", "bp": "e", "id": 1, "cat": "batch", "name": "batch", "pid": 5, "tid": 5, "ts": 59},
    {"ph": "s", "id": 2, "cat": "batch", "name": "batch", "pid": 6, "tid": 6, "ts": 89},
    {"ph": "f", "bp": "e", "id": 2, "cat": "batch", "name": "batch", "pid": 5, "tid": 5, "ts": 94})J"));
  const report::Table& batches = report.tables[3];
  EXPECT_EQ(cells(batches, "start"), (Cells{"0", "30000"}));
  EXPECT_EQ(cells(batches, "load"), (Cells{"30000", "60000"}));
  EXPECT_EQ(cells(batches, "queued"), (Cells{"20000", "0"}));
  EXPECT_EQ(cells(batches, "late"), (Cells{"0", "10000"}));
  EXPECT_EQ(cells(batches, "hand_over"), (Cells{"10000", "5000"}));
  const report::Table& ready = report.tables[4];
  EXPECT_EQ(cells(ready, "time"), (Cells{"30000", "60000", "90000", "95000"}));
  EXPECT_EQ(cells(ready, "ready"), (Cells{"1", "0", "1", "0"}));
}

TEST(InputWait, NothingRecorded) {
  const report::Report report = test::answer(
      "input_wait",
      test::open_events(
          R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 5})"));
  EXPECT_EQ(report.tables[0].rows(), 0u);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find("DataLoader"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
