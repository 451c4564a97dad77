#include "analyze/io/io.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analyze/io/file_groups.h"
#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

const report::Table& titled(const report::Report& report, std::string_view title) {
  for (const report::Table& table : report.tables)
    if (table.title == title) return table;
  ADD_FAILURE() << "no table " << title;
  return report.tables.front();
}

std::string call(std::string_view name, int pid, int at, int length, std::string_view args, int thread = 0) {
  return fmt::format(
      R"(,{{"ph": "X", "cat": "posix_call", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
      name, pid, thread == 0 ? pid : thread, at, length, args);
}

/// One step of 1,000 µs in process 5: a wait [0,200) for a batch that process 6 fetched in [20,180), an
/// operator [200,600), then a file of 2 MiB is written.
trace::Trace program(const std::string& calls) {
  return test::open_events(R"J(
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 1000},
    {"ph": "X", "cat": "user_annotation", "name": "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "pid": 5, "tid": 5, "ts": 0, "dur": 200},
    {"ph": "X", "cat": "user_annotation", "name": "DataLoader.fetch", "pid": 6, "tid": 6, "ts": 20, "dur": 160},
    {"ph": "s", "cat": "dataloader", "name": "dataloader", "id": 1, "pid": 6, "tid": 6, "ts": 179},
    {"ph": "f", "cat": "dataloader", "name": "dataloader", "id": 1, "pid": 5, "tid": 5, "ts": 190, "bp": "e"},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 200, "dur": 400})J" +
                           calls);
}

const std::string kTwoReads =
    call("open64", 6, 30, 10, R"("fname": "/data/1/a.img", "ret": 3, "fd": 3)") +
    call("read", 6, 40, 60, R"("fname": "/data/1/a.img", "offset": 0, "size": 100, "ret": 100, "fd": 3)") +
    call("read", 6, 100, 20, R"("fname": "/data/1/a.img", "offset": 100, "size": 100, "ret": 50, "fd": 3)") +
    call("open64", 6, 130, 10, R"("fname": "/data/2/b.img", "ret": 4, "fd": 4)") +
    call("pread64", 6, 145, 5, R"("fname": "/data/1/a.img", "offset": 0, "size": 50, "ret": 50, "fd": 3)");

// 100 bytes from a to b, then 30 from a pipe to b.
TEST(Io, CopiesHaveTwoSides) {
  const trace::Trace trace =
      program(call("copy_file_range", 6, 30, 10,
                   R"("fname": "/a", "to": "/b", "offset": 0, "size": 200, "ret": 100, "fd": 3)") +
              call("splice", 6, 50, 7, R"("to": "/b", "offset": 100, "size": 30, "ret": 30, "fd": 4)"));
  const report::Report report = test::answer("io", trace);
  EXPECT_EQ(cells(titled(report, "I/O and compute"), "read"), (Cells{"100"}));
  EXPECT_EQ(cells(titled(report, "I/O and compute"), "written"), (Cells{"130"}));
  EXPECT_EQ(cells(titled(report, "Calls by kind"), "kind"), (Cells{"read", "write"}));
  EXPECT_EQ(cells(titled(report, "Calls by kind"), "time"), (Cells{"10000", "7000"}));
  const report::Table& files = titled(report, "Files");
  EXPECT_EQ(cells(files, "file"), (Cells{"/a", "/b"}));
  EXPECT_EQ(cells(files, "calls"), (Cells{"1", "2"}));
  EXPECT_EQ(cells(files, "written"), (Cells{"0", "130"}));
  const report::Table& groups = titled(report, "Groups of files");
  EXPECT_EQ(cells(groups, "files"), (Cells{"2"}));
  EXPECT_EQ(cells(groups, "calls"), (Cells{"2"}));  // the copy is one call of this group
  EXPECT_EQ(cells(groups, "read"), (Cells{"100"}));
  EXPECT_EQ(cells(groups, "written"), (Cells{"130"}));
}

TEST(Io, BatchesKindsAndFiles) {
  const trace::Trace trace = program(kTwoReads);
  const report::Report report = test::answer("io", trace);
  const report::Table& batches = titled(report, "Waits for data, and the I/O in them");
  EXPECT_EQ(cells(batches, "wait"), (Cells{"200000"}));
  EXPECT_EQ(cells(batches, "load"), (Cells{"160000"}));
  EXPECT_EQ(cells(batches, "io"), (Cells{"105000"}));  // [30,120), [130,140), [145,150)
  EXPECT_EQ(cells(batches, "calls"), (Cells{"5"}));
  EXPECT_EQ(cells(batches, "files"), (Cells{"2"}));
  EXPECT_EQ(cells(batches, "read"), (Cells{"200"}));
  EXPECT_EQ(cells(batches, "metadata_calls"), (Cells{"2"}));
  EXPECT_EQ(cells(batches, "slowest_file"), (Cells{"/data/1/a.img"}));
  EXPECT_EQ(cells(batches, "its_time"), (Cells{"95000"}));
  const report::Table& kinds = titled(report, "Calls by kind");
  EXPECT_EQ(cells(kinds, "kind"), (Cells{"read", "open"}));
  EXPECT_EQ(cells(kinds, "calls"), (Cells{"3", "2"}));
  EXPECT_EQ(cells(kinds, "time"), (Cells{"85000", "20000"}));
  EXPECT_EQ(cells(kinds, "bytes"), (Cells{"200", "0"}));
  EXPECT_EQ(cells(kinds, "p50"), (Cells{"20000", "10000"}));
  const report::Table& files = titled(report, "Files");
  EXPECT_EQ(cells(files, "file"), (Cells{"/data/1/a.img", "/data/2/b.img"}));
  EXPECT_EQ(cells(files, "read"), (Cells{"200", "0"}));
  EXPECT_EQ(cells(files, "in_order"), (Cells{"0.5", "-"}));  // the second read goes on, the third goes back
  EXPECT_EQ(cells(files, "times_read"), (Cells{"1.33333", "-"}));  // 200 bytes, 150 of them different
  EXPECT_EQ(cells(files, "small"), (Cells{"1", "-"}));
  const report::Table& groups = titled(report, "Groups of files");
  EXPECT_EQ(cells(groups, "group"), (Cells{"/data/#/*.img"}));
  EXPECT_EQ(cells(groups, "files"), (Cells{"2"}));
  EXPECT_EQ(cells(groups, "opens"), (Cells{"2"}));
}

// Marks of steps are one caller, whatever their numbers.
TEST(Io, StepsAreOneCaller) {
  const trace::Trace trace = program(
      R"(,{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 5, "tid": 5, "ts": 1000, "dur": 1000})" +
      call("read", 5, 700, 10, R"("fname": "/a", "ret": 10)") +
      call("read", 5, 1700, 30, R"("fname": "/a", "ret": 20)"));
  const report::Report report = test::answer("io", trace);
  const report::Table& callers = titled(report, "What calls");
  EXPECT_EQ(cells(callers, "caller"), (Cells{"ProfilerStep"}));
  EXPECT_EQ(cells(callers, "bytes"), (Cells{"30"}));
}

// A read around another is of another thread, or their times are rounded; a call of a library makes others.
TEST(Io, SystemCallsAreNoCallers) {
  const trace::Trace trace = program(call("read", 7, 600, 100, R"("fname": "/a", "ret": 10)") +
                                     call("write", 7, 600, 0, R"("fname": "/b", "ret": 20)") +
                                     call("fread", 7, 800, 100, R"("fname": "/c", "ret": 30)") +
                                     call("read", 7, 810, 20, R"("fname": "/c", "ret": 30)"));
  const report::Report report = test::answer("io", trace);
  const report::Table& callers = titled(report, "What calls");
  EXPECT_EQ(cells(callers, "caller"), (Cells{"-", "fread"}));
  EXPECT_EQ(cells(callers, "calls"), (Cells{"3", "1"}));
  EXPECT_EQ(cells(callers, "time"), (Cells{"200000", "20000"}));
}

TEST(Io, OverlapWithCompute) {
  const trace::Trace trace = program(call("read", 5, 100, 200, R"("fname": "/a", "ret": 10)") +
                                     call("read", 6, 250, 500, R"("fname": "/b", "ret": 10)"));
  const report::Report report = test::answer("io", trace);
  const report::Table& overlap = report.tables.front();
  EXPECT_EQ(cells(overlap, "io"), (Cells{"650000"}));               // [100,750)
  EXPECT_EQ(cells(overlap, "main_process_io"), (Cells{"200000"}));  // [100,300)
  EXPECT_EQ(cells(overlap, "compute"), (Cells{"400000"}));          // the operator
  EXPECT_EQ(cells(overlap, "hidden_io"), (Cells{"400000"}));
  EXPECT_EQ(cells(overlap, "exposed_io"), (Cells{"250000"}));  // [100,200), [600,750)
  EXPECT_EQ(cells(overlap, "exposed_main_process_io"), (Cells{"100000"}));
  EXPECT_EQ(cells(overlap, "processes"), (Cells{"2"}));
}

TEST(Io, CallsOutsideTheWindow) {
  const trace::Trace trace = program(call("read", 5, 900, 50, R"("fname": "/a", "ret": 10)") +
                                     call("read", 5, 2000, 50, R"("fname": "/a", "ret": 70)"));
  const report::Report report = test::answer("io", trace);
  const report::Table& overlap = report.tables.front();
  EXPECT_EQ(cells(overlap, "window"), (Cells{"1000000"}));
  EXPECT_EQ(cells(overlap, "calls"), (Cells{"1"}));
  EXPECT_EQ(cells(overlap, "read"), (Cells{"10"}));
  EXPECT_EQ(cells(overlap, "recorded_calls"), (Cells{"2"}));
  EXPECT_EQ(cells(overlap, "recorded_read"), (Cells{"80"}));
  EXPECT_EQ(cells(titled(report, "Files"), "read"), (Cells{"10"}));
}

// Two calls of 50 µs, 20 of which overlap, on one group of files, and one of 10 µs, before a step that begins
// at 0.
TEST(Io, CallsBeforeTheFirstStep) {
  const trace::Trace trace = program(call("read", 5, -300, 50, R"("fname": "/d/a.bin", "ret": 10)") +
                                     call("read", 6, -270, 50, R"("fname": "/d/b.bin", "ret": 10)") +
                                     call("read", 5, -100, 10, R"("fname": "/e", "ret": 10)") +
                                     call("read", 5, 900, 50, R"("fname": "/a", "ret": 10)"));
  const report::Report report = test::answer("io", trace);
  EXPECT_EQ(cells(report.tables.front(), "earlier_io"), (Cells{"90000"}));
  EXPECT_EQ(cells(report.tables.front(), "earlier_group"), (Cells{"/d/*.bin"}));
}

// Of the main thread: what is between the calls counts from opening to closing, and not where an operator
// begins.
TEST(Io, FilesThatHoldUpTheSteps) {
  const std::string a = R"("fname": "/x/a", "fd": 3, )", b = R"("fname": "/y/b", "fd": 4, )";
  const trace::Trace trace = program(
      call("open64", 5, 600, 10, a + R"("ret": 3)") +
      call("read", 5, 620, 10, a + R"("offset": 0, "ret": 100)") +
      call("read", 5, 660, 10, a + R"("offset": 0, "ret": 100)") +
      call("close", 5, 700, 10, a + R"("ret": 0)") + call("write", 5, 800, 10, b + R"("ret": 5)") +
      call("write", 5, 900, 10, b + R"("ret": 5)") + call("read", 6, 600, 300, R"("fname": "/c", "ret": 5)"));
  const report::Report report = test::answer("io", trace);
  const report::Table& holding = titled(report, "Files that hold up the steps");
  EXPECT_EQ(cells(holding, "group"), (Cells{"/x/a", "/y/b"}));
  EXPECT_EQ(cells(holding, "io"), (Cells{"40000", "20000"}));
  EXPECT_EQ(cells(holding, "time"), (Cells{"110000", "20000"}));  // [600,710); [800,810), [900,910)
  EXPECT_EQ(cells(holding, "times_read"), (Cells{"2", "-"}));
  const trace::Trace interrupted = program(
      call("open64", 5, 600, 10, a + R"("ret": 3)") + call("read", 5, 700, 10, a + R"("ret": 100)") +
      R"(,{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 720, "dur": 20})" +
      call("close", 5, 780, 10, a + R"("ret": 0)"));
  EXPECT_EQ(cells(titled(test::answer("io", interrupted), "Files that hold up the steps"), "time"),
            (Cells{"120000"}));  // [600,710), [780,790)
}

TEST(Io, SavedFiles) {
  const std::string file = R"("fname": "/out/model.pt", )";
  const trace::Trace trace = program(call("open64", 5, 600, 10, file + R"("ret": 3)") +
                                     call("write", 5, 620, 80, file + R"("ret": 2097152)") +
                                     call("fsync", 5, 700, 50, file + R"("ret": 0)") +
                                     call("close", 5, 750, 10, file + R"("ret": 0)"));
  const report::Report report = test::answer("io", trace);
  const report::Table& saved = titled(report, "Large files written by the main process");
  EXPECT_EQ(cells(saved, "file"), (Cells{"/out/model.pt"}));
  EXPECT_EQ(cells(saved, "written"), (Cells{"2097152"}));
  EXPECT_EQ(cells(saved, "io"), (Cells{"150000"}));
  EXPECT_EQ(cells(saved, "stall"), (Cells{"160000"}));  // with the gap [610,620)
  EXPECT_EQ(cells(saved, "sync"), (Cells{"50000"}));
}

// H5Dread [30,130) around read [40,100) of 100 bytes, H5Dread [130,170) that fails.
TEST(Io, CallsOfLibrariesAreNotAddedToThoseOfFiles) {
  const auto library = [](int at, int length, std::string_view ret) {
    return fmt::format(
        R"(,{{"ph": "X", "cat": "HDF5", "name": "H5Dread", "pid": 6, "tid": 6, "ts": {}, "dur": {}, "args": {{"fname": "/data/a.h5", "ret": {}}}}})",
        at, length, ret);
  };
  const trace::Trace trace = program(library(30, 100, "4000") + library(130, 40, "-1") +
                                     call("read", 6, 40, 60, R"("fname": "/data/a.h5", "ret": 100)"));
  const report::Report report = test::answer("io", trace);
  const report::Table& libraries = titled(report, "Calls of I/O libraries");
  EXPECT_EQ(cells(libraries, "library"), (Cells{"HDF5"}));
  EXPECT_EQ(cells(libraries, "function"), (Cells{"H5Dread"}));
  EXPECT_EQ(cells(libraries, "calls"), (Cells{"2"}));
  EXPECT_EQ(cells(libraries, "failed"), (Cells{"1"}));
  EXPECT_EQ(cells(libraries, "time"), (Cells{"140000"}));
  EXPECT_EQ(cells(libraries, "bytes"), (Cells{"4000"}));
  EXPECT_EQ(cells(libraries, "io"), (Cells{"60000"}));
  EXPECT_EQ(cells(libraries, "io_bytes"), (Cells{"100"}));
  EXPECT_EQ(cells(libraries, "max"), (Cells{"100000"}));
  const report::Table& overlap = titled(report, "I/O and compute");
  EXPECT_EQ(cells(overlap, "calls"), (Cells{"1"}));
  EXPECT_EQ(cells(overlap, "read"), (Cells{"100"}));
  EXPECT_EQ(cells(overlap, "io"), (Cells{"60000"}));
  const report::Table& callers = titled(report, "What calls");
  EXPECT_EQ(cells(callers, "caller"), (Cells{"H5Dread"}));
  EXPECT_EQ(cells(callers, "layer"), (Cells{"I/O library"}));
}

TEST(Io, GroupNames) {
  const auto named = [](std::initializer_list<const char*> files) {
    analyze::GroupName name;
    for (const char* file : files) name.add(file);
    return name.text();
  };
  EXPECT_EQ(named({"/d2/a/1.img"}), "/d2/a/1.img");
  EXPECT_EQ(named({"/d2/a/1.img", "/d2/a/2.img"}), "/d2/a/*.img");
  EXPECT_EQ(named({"/d2/10/1.img", "/d2/11/1.img"}), "/d2/#/*.img");
  EXPECT_EQ(named({"/d2/1/x", "/d3/1/x"}), "/d#/#/*");
  EXPECT_EQ(named({"a.img", "b.img"}), "*.img");
}

TEST(Io, NothingRecorded) {
  const report::Report report = test::answer(
      "io",
      test::open_events(
          R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 5})"));
  EXPECT_EQ(report.tables.front().rows(), 0U);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_NE(report.notes[0].find("record --io"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
