#include <fmt/format.h>

#include <random>

#include "make_rank.h"

namespace stepscope::analyze {
namespace {

using test::Cells;

report::Report whatif_of(const trace::Trace& trace, const std::string& scale) {
  report::Report report = test::answer("whatif", trace, test::params({{"scale", scale}}));
  EXPECT_EQ(report.tables.size(), 2u);
  return report;
}

// One step of 300 µs:
//   host     loader [0,100)  launch k [110,114)  sync [120,220)  launch n [230,234)   until 300
//   stream   k [116,210)   n [236,296)
const std::vector<std::string> kLoaderAndSync = {
    R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 300})",
    R"({"ph": "X", "cat": "user_annotation", "name": "enumerate(DataLoader)#x.__next__", "pid": 5, "tid": 5, "ts": 0, "dur": 100})",
    R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 110, "dur": 4, "args": {"correlation": 1}})",
    R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 5, "tid": 5, "ts": 120, "dur": 100, "args": {"correlation": 2}})",
    R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 230, "dur": 4, "args": {"correlation": 3}})",
    R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 116, "dur": 94, "args": {"correlation": 1}})",
    R"({"ph": "X", "cat": "kernel", "name": "ncclKernel", "pid": 0, "tid": 7, "ts": 236, "dur": 60, "args": {"correlation": 3}})"};

std::string joined(const std::vector<std::string>& events) {
  std::string text;
  for (const std::string& event : events) text += (text.empty() ? "" : ",") + event;
  return text;
}

// data_loading=0: everything 100 earlier. compute=0.5: k ends at 163, sync returns at 173, n and the host 47
// earlier. sync=0: the host goes on at 120, n is asked for at 134, starts when k has ended (210) + 2 and ends
// at 272. comm=0: nothing waits for n, the host ends at 300. Together: asked for at 34, k ends at 63, n at
// 65; the host ends at 100.
TEST(Whatif, SavingsAloneAndTogether) {
  const trace::Trace trace = test::open_events(joined(kLoaderAndSync));
  const report::Report report = whatif_of(trace, "data_loading=0; compute=0.5; sync=0; comm=0; alloc=0");
  EXPECT_EQ(test::cells(report.tables[0], "recorded"), Cells{"300000"});
  EXPECT_EQ(test::cells(report.tables[0], "identity"), Cells{"300000"});
  EXPECT_EQ(test::cells(report.tables[0], "error"), Cells{"0"});
  EXPECT_EQ(test::cells(report.tables[1], "change"),
            (Cells{"data_loading=0", "compute=0.5", "sync=0", "comm=0", "alloc=0", "all together"}));
  EXPECT_EQ(test::cells(report.tables[1], "saving"), (Cells{"100000", "47000", "28000", "0", "0", "200000"}));
  EXPECT_EQ(test::cells(report.tables[1], "step"),
            (Cells{"200000", "253000", "272000", "300000", "300000", "100000"}));
  EXPECT_EQ(test::cells(report.tables[1], "found"), (Cells{"yes", "yes", "yes", "yes", "no", "yes"}));
}

// A collective of 100 µs was launched before the recording; then two steps of 50 µs on the host launch one of
// 75 each. The window is [100, 250), 75 per step. At half, the collectives take 37.5 per step, but the host
// takes 50 and becomes the limit: its lead of 90 µs at the window's begin does not count. The same holds
// without collectives.
TEST(Whatif, TheHostsLeadIsNoSaving) {
  std::string events =
      R"({"ph": "X", "cat": "kernel", "name": "ncclKernel", "pid": 0, "tid": 7, "ts": 0, "dur": 100, "args": {"stream": 7}})";
  for (int i = 0; i < 2; ++i)
    events += fmt::format(
        R"(,{{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{0}", "pid": 5, "tid": 5, "ts": {1}, "dur": 50}},
{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": {2}, "dur": 4, "args": {{"correlation": {0}}}}},
{{"ph": "X", "cat": "kernel", "name": "ncclKernel", "pid": 0, "tid": 7, "ts": {3}, "dur": 75, "args": {{"stream": 7, "correlation": {0}}}}})",
        i + 1, 10 + 50 * i, 20 + 50 * i, 100 + 75 * i);
  const report::Report report = whatif_of(test::open_events(events), "comm=0.9; comm=0.5; comm=0");
  EXPECT_EQ(test::cells(report.tables[0], "recorded"), Cells{"75000"});
  EXPECT_EQ(test::cells(report.tables[0], "identity"), Cells{"75000"});
  EXPECT_EQ(test::cells(report.tables[1], "saving"), (Cells{"7500", "25000", "25000", "25000"}));
}

// Both launches take 2 instead of 4, so the host is 4 earlier: n is asked for at 230, starts on the idle
// stream after 1 instead of 2, and lasts 120.
TEST(Whatif, LaunchesAndTheirWayToTheDevice) {
  const report::Report report = whatif_of(test::open_events(joined(kLoaderAndSync)), "launch=0.5; comm=2");
  EXPECT_EQ(test::cells(report.tables[1], "step"), (Cells{"296000", "356000", "351000"}));
}

// The step's mark holds all host time. k is asked for at 57 and ends at 153, sync returns at 153 + 5, n is
// asked for 7 later, starts at 167 and ends at 227, after the host (198).
TEST(Whatif, AllHostWork) {
  const trace::Trace trace = test::open_events(joined(kLoaderAndSync));
  EXPECT_EQ(test::cells(whatif_of(trace, "host=0.5").tables[1], "saving"), Cells{"73000"});
}

// A step of 300 µs: the comparison gt [0,50) launches k; `between` [60,70); index [100,200) calls nonzero,
// which waits. A comparison is removed with the index only if no other operator is called between them.
TEST(Whatif, AMaskGoesWithWhatItSelects) {
  const auto program = [](const char* mask, const char* between) {
    return fmt::format(R"J(
{{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 300}},
{{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 5, "tid": 5, "ts": 0, "dur": 50}},
{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 10, "dur": 4, "args": {{"correlation": 1}}}},
{{"ph": "X", "cat": "{}", "name": "between", "pid": 5, "tid": 5, "ts": 60, "dur": 10}},
{{"ph": "X", "cat": "cpu_op", "name": "aten::index", "pid": 5, "tid": 5, "ts": 100, "dur": 100}},
{{"ph": "X", "cat": "cpu_op", "name": "aten::nonzero", "pid": 5, "tid": 5, "ts": 100, "dur": 90}},
{{"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 5, "tid": 5, "ts": 110, "dur": 70, "args": {{"correlation": 2}}}},
{{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 16, "dur": 154, "args": {{"device": 0, "stream": 7, "correlation": 1}}}})J",
                       mask, between);
  };
  const auto saved = [&](const std::string& events) {
    return test::cells(whatif_of(test::open_events(events), "waiting:aten::nonzero=0").tables[1], "saving");
  };
  EXPECT_EQ(saved(program("aten::gt", "python_function")), Cells{"150000"});
  EXPECT_EQ(saved(program("aten::gt", "cpu_op")), Cells{"100000"});
  EXPECT_EQ(saved(program("aten::mul", "python_function")), Cells{"100000"});
}

TEST(Whatif, KernelsOfAKind) {
  std::vector<std::string> events = kLoaderAndSync;
  events[5].replace(events[5].find("\"k\""), 3, "\"softmax_warp_forward\"");
  const trace::Trace trace = test::open_events(joined(events));
  const report::Table table = whatif_of(trace, "kind:softmax=0.5; kind:/norm|cast/=0").tables[1];
  EXPECT_EQ(test::cells(table, "saving"), (Cells{"47000", "0", "47000"}));
  EXPECT_EQ(test::cells(table, "found"), (Cells{"yes", "no", "yes"}));
}

TEST(Whatif, DoublePrecision) {
  std::vector<std::string> events = kLoaderAndSync;
  events[5].replace(events[5].find("\"k\""), 3, "\"gemm_kernel<double>\"");
  const report::Table table = whatif_of(test::open_events(joined(events)), "fp64=0.5").tables[1];
  EXPECT_EQ(test::cells(table, "saving"), Cells{"47000"});
  EXPECT_EQ(test::cells(whatif_of(test::open_events(joined(kLoaderAndSync)), "fp64=0.5").tables[1], "found"),
            Cells{"no"});
}

// Ranges that launch nothing are removed: loading, and half of 40 µs after the last launch. Of these 20 µs
// only 4 show, as the device works until 296. A range with a launch inside is not removed.
TEST(Whatif, QuietRanges) {
  std::vector<std::string> events = kLoaderAndSync;
  events.push_back(
      R"({"ph": "X", "cat": "user_annotation", "name": "log", "pid": 5, "tid": 5, "ts": 240, "dur": 40})");
  events.push_back(
      R"({"ph": "X", "cat": "user_annotation", "name": "outer", "pid": 5, "tid": 5, "ts": 105, "dur": 12})");
  const report::Table table =
      whatif_of(test::open_events(joined(events)), "quiet:/DataLoader/=0; quiet:log=0.5; quiet:outer=0")
          .tables[1];
  EXPECT_EQ(test::cells(table, "saving"), (Cells{"100000", "4000", "0", "104000"}));
  EXPECT_EQ(test::cells(table, "found"), (Cells{"yes", "yes", "no", "yes"}));
}

// aten::index runs from 117 to 225 around the nonzero that waits. Without it the host goes on at 117 and asks
// for n at 122; n starts when k has ended (210) + 2 and ends at 272.
TEST(Whatif, OperatorsThatWaitForASize) {
  std::vector<std::string> events = kLoaderAndSync;
  events.push_back(
      R"({"ph": "X", "cat": "cpu_op", "name": "aten::index", "pid": 5, "tid": 5, "ts": 117, "dur": 108})");
  events.push_back(
      R"({"ph": "X", "cat": "cpu_op", "name": "aten::nonzero", "pid": 5, "tid": 5, "ts": 119, "dur": 103})");
  const report::Table table =
      whatif_of(test::open_events(joined(events)), "waiting:aten::nonzero=0; waiting:aten::unique=0")
          .tables[1];
  EXPECT_EQ(test::cells(table, "saving"), (Cells{"28000", "0", "28000"}));
  EXPECT_EQ(test::cells(table, "found"), (Cells{"yes", "no", "yes"}));
}

// 12 rounds of 8 µs, 10 µs apart; with a factor of 0.5, 6 are removed with their launches and kernels.
TEST(Whatif, RoundsOfALoop) {
  std::string events =
      R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 200})";
  for (int i = 0; i < 12; ++i) {
    const std::string at = std::to_string(10 * i + 1), id = std::to_string(i + 1);
    events +=
        R"(,{"ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 5, "tid": 5, "dur": 8, "ts": )" +
        std::to_string(10 * i) +
        R"(},{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "dur": 2, "ts": )" +
        at + R"(, "args": {"correlation": )" + id +
        R"(}},{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "dur": 3, "ts": )" +
        std::to_string(10 * i + 5) + R"(, "args": {"correlation": )" + id + "}}";
  }
  const report::Table table =
      whatif_of(test::open_events(events), "loop:aten::mul=0.5; loop:aten::add=0").tables[1];
  EXPECT_EQ(test::cells(table, "saving"), (Cells{"48000", "0", "48000"}));
  EXPECT_EQ(test::cells(table, "found"), (Cells{"yes", "no", "yes"}));
}

// The main thread stops at 20 and wakes the backward thread at 30; that stops at 290 and the main thread goes
// on at 300. Halving the backward op makes the main thread go on at 170 and end at 270; g is asked for at 67,
// starts at 69, ends at 243, and h follows from 245 to 269.
TEST(Whatif, ThreadsWaitForEachOther) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 400},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 10, "dur": 4, "args": {"correlation": 1}},
    {"ph": "X", "cat": "cpu_op", "name": "call_backward", "pid": 5, "tid": 5, "ts": 20, "dur": 280},
    {"ph": "X", "cat": "cpu_op", "name": "AddBackward", "pid": 5, "tid": 6, "ts": 30, "dur": 260},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 6, "ts": 100, "dur": 4, "args": {"correlation": 2}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 310, "dur": 4, "args": {"correlation": 3}},
    {"ph": "X", "cat": "kernel", "name": "f", "pid": 0, "tid": 7, "ts": 16, "dur": 34, "args": {"correlation": 1}},
    {"ph": "X", "cat": "kernel", "name": "g", "pid": 0, "tid": 7, "ts": 106, "dur": 174, "args": {"correlation": 2}},
    {"ph": "X", "cat": "kernel", "name": "h", "pid": 0, "tid": 7, "ts": 316, "dur": 24, "args": {"correlation": 3}})J");
  const report::Report report =
      whatif_of(trace, "host:AddBackward=0.5; device:/Add|x/=0; op:AddBackward=0; host:call_backward=0");
  EXPECT_EQ(test::cells(report.tables[0], "error"), Cells{"0"});
  // Without g the step still lasts as long as its host; without the op, 260 less. The main thread's wait for
  // another thread is not its own work: removing the range around the wait saves nothing.
  EXPECT_EQ(test::cells(report.tables[1], "saving"), (Cells{"130000", "0", "260000", "0", "260000"}));
}

// k starts 496 µs after its launch, and nothing that is recorded explains why.
TEST(Whatif, RefusesWhatItCannotReproduce) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 20},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 0, "dur": 4, "args": {"correlation": 1}},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 500, "dur": 100, "args": {"correlation": 1}})J");
  const report::Report report = whatif_of(trace, "compute=0");
  EXPECT_EQ(test::cells(report.tables[0], "identity"), Cells{"124000"});
  EXPECT_EQ(test::cells(report.tables[1], "saving"), Cells{"-"});
  ASSERT_EQ(report.notes.size(), 2u);
  EXPECT_NE(report.notes[0].find("Refused"), std::string::npos);
  EXPECT_NE(report.notes[1].find("nothing at all is recorded"), std::string::npos) << report.notes[1];
  EXPECT_NE(report.notes[0].find("79.3 %"), std::string::npos) << report.notes[0];
}

TEST(Whatif, SaysWhatItDidNotUnderstand) {
  const trace::Trace trace = test::open_events(joined(kLoaderAndSync));
  for (const char* wrong : {"loader=0", "comm", "comm=", "comm=-1", "comm=nan", "comm=1001", "comm=0x",
                            "kernel=0", "kernel:=0", "comm:x=0", "=0"}) {
    const report::Report report = whatif_of(trace, wrong);
    EXPECT_EQ(report.tables[1].rows(), 0u) << wrong;
    ASSERT_EQ(report.notes.size(), 1u) << wrong;
    EXPECT_EQ(report.notes[0].rfind("--scale: ", 0), 0u) << report.notes[0];
  }
}

TEST(Whatif, NothingToReplayWithoutDevice) {
  const report::Report report = whatif_of(test::open_events(kLoaderAndSync[0]), "comm=0");
  EXPECT_EQ(test::cells(report.tables[1], "saving"), Cells{"-"});
  ASSERT_EQ(report.notes.size(), 1u);
}

// Impossible times: nothing is replayed, and nothing overflows.
TEST(Whatif, AbsurdTimes) {
  for (const char* start : {"-3000000000000000", "3000000000000000"}) {
    const trace::Trace trace = test::open_events(
        joined(kLoaderAndSync) + R"(,{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": )" +
        start + R"(, "dur": 100000000000000})");
    EXPECT_EQ(test::cells(whatif_of(trace, "comm=1000").tables[1], "saving"), Cells{"-"});
  }
}

TEST(Whatif, OrderOfEventsInTheFileChangesNothing) {
  const std::string scale = "data_loading=0.3; compute=0.7; sync=0.5; launch=0; comm=2";
  std::vector<std::string> events = kLoaderAndSync;
  const report::Report first = whatif_of(test::open_events(joined(events)), scale);
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(events.begin(), events.end(), random);
    const report::Report again = whatif_of(test::open_events(joined(events)), scale);
    EXPECT_EQ(test::cells(again.tables[1], "step"), test::cells(first.tables[1], "step"));
  }
}

}  // namespace
}  // namespace stepscope::analyze
