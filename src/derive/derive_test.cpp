// Hand-made traces of at most a dozen rows: nesting, links, steps.
#include "derive/derive.h"

#include <gtest/gtest.h>

#include "derive/id_index.h"
#include "derive/row_time.h"
#include "support/open_text.h"

namespace stepscope::derive {
namespace {

using trace::kNoRow;
using trace::Row;

/// One event, in short form.
struct Made {
  const char* category;
  const char* name;
  int tid;  ///< a stream if the category is a device category
  int ts, dur;
  const char* args = "";
  int pid = 1;
};

class Derived {
 public:
  explicit Derived(std::initializer_list<Made> events) {
    std::string text;
    for (const Made& e : events) {
      text += text.empty() ? "[" : ",";
      text += std::string(R"({"ph":"X","cat":")") + e.category + R"(","name":")" + e.name + R"(","pid":)" +
              std::to_string(e.pid) + R"(,"tid":)" + std::to_string(e.tid) + R"(,"ts":)" +
              std::to_string(e.ts) + R"(,"dur":)" + std::to_string(e.dur) + R"(,"args":{)" + e.args + "}}";
    }
    auto opened = test::open_text(text + "]");
    EXPECT_TRUE(opened.ok());
    trace = std::move(*opened);
  }
  Row row(std::string_view name) const {
    for (Row row = 0; row < rank().events.size(); ++row)
      if (trace.name(rank(), row) == name) return row;
    ADD_FAILURE() << "no row " << name;
    return 0;
  }
  /// Name of the row that a link points to; "-" for kNoRow.
  std::string at(Row row) const { return row == kNoRow ? "-" : std::string(trace.name(rank(), row)); }
  std::string parent(std::string_view name) const { return at(rank().events.parent[row(name)]); }
  std::string launch(std::string_view name) const { return at(rank().events.launch[row(name)]); }
  std::string op(std::string_view name) const { return at(rank().events.op[row(name)]); }
  int depth(std::string_view name) const { return rank().events.depth[row(name)]; }
  int step(std::string_view name) const { return rank().events.step[row(name)]; }
  trace::Work work(std::string_view name) const { return rank().events.work[row(name)]; }
  const trace::Rank& rank() const { return trace.ranks[0]; }
  trace::Trace trace;
};

TEST(Nesting, InnermostEnclosingRangeOfTheSameThread) {
  const Derived d{{"user_annotation", "outer", 1, 0, 100}, {"cpu_op", "a", 1, 10, 50},
                  {"cuda_runtime", "call", 1, 20, 5},      {"cpu_op", "b", 1, 60, 40},
                  {"cpu_op", "elsewhere", 2, 20, 5},       {"cpu_op", "after", 1, 100, 5}};
  EXPECT_EQ(d.parent("outer"), "-");
  EXPECT_EQ(d.parent("a"), "outer");
  EXPECT_EQ(d.parent("call"), "a");
  EXPECT_EQ(d.parent("b"), "outer") << "touching ends do not nest";
  EXPECT_EQ(d.parent("elsewhere"), "-");
  EXPECT_EQ(d.parent("after"), "-") << "begins where the outer one ends";
  EXPECT_EQ(d.depth("outer"), 0);
  EXPECT_EQ(d.depth("call"), 2);
}

TEST(Nesting, OfEqualRangesTheOuterKindIsTheParent) {
  const Derived d{
      {"cuda_runtime", "call", 1, 0, 10}, {"cpu_op", "op", 1, 0, 10}, {"user_annotation", "mark", 1, 0, 10}};
  EXPECT_EQ(d.parent("mark"), "-");
  EXPECT_EQ(d.parent("op"), "mark");
  EXPECT_EQ(d.parent("call"), "op");
}

TEST(Nesting, CallsThatReadAndWriteFiles) {
  const Derived d{{"python_function", "load", 1, 0, 100},
                  {"STDIO", "fread", 1, 10, 50},
                  {"POSIX", "read", 1, 20, 30},
                  {"cpu_op", "aten::from_file", 1, 70, 20},
                  {"posix_call", "pread", 1, 70, 20}};
  EXPECT_EQ(d.parent("fread"), "load");
  EXPECT_EQ(d.parent("read"), "fread");
  EXPECT_EQ(d.parent("pread"), "aten::from_file") << "of equal ranges the call is the inner one";
  EXPECT_EQ(d.parent("aten::from_file"), "load");
  const derive::RowTimes times = derive::row_times(d.rank());
  EXPECT_EQ(times.host_self[d.row("load")], 30'000);
  EXPECT_EQ(times.host_self[d.row("aten::from_file")], 0);
  EXPECT_EQ(times.host_self[d.row("pread")], 20'000);
}

TEST(Nesting, RangesThatOnlyOverlapAreSiblings) {
  const Derived d{{"cpu_op", "outer", 1, 0, 100},
                  {"cpu_op", "left", 1, 10, 30},
                  {"cpu_op", "right", 1, 30, 40},
                  {"cpu_op", "in both", 1, 32, 4}};
  EXPECT_EQ(d.parent("left"), "outer");
  EXPECT_EQ(d.parent("right"), "outer");
  EXPECT_EQ(d.parent("in both"), "right");
}

TEST(Nesting, AChildMaySeemToEndAMicrosecondLate) {
  const Derived d{
      {"cpu_op", "parent", 1, 0, 10}, {"cpu_op", "child", 1, 5, 6}, {"cpu_op", "too late", 1, 8, 9}};
  EXPECT_EQ(d.parent("child"), "parent");
  EXPECT_EQ(d.parent("too late"), "-");
}

TEST(Nesting, DeviceRowsAndInstantsDoNotNest) {
  const Derived d{{"kernel", "k", 7, 0, 10},
                  {"gpu_user_annotation", "mark", 7, 0, 20},
                  {"overhead", "o", 1, 0, 5},
                  {"cpu_op", "a", 1, 1, 1}};
  for (const char* name : {"k", "mark", "o", "a"}) EXPECT_EQ(d.parent(name), "-") << name;
}

TEST(Links, ByCorrelationAndByNesting) {
  const Derived d{{"cpu_op", "outer op", 1, 0, 50, R"("External id":1)"},
                  {"cpu_op", "op", 1, 5, 20, R"("External id":2)"},
                  {"cuda_runtime", "launch", 1, 10, 5, R"("correlation":7,"External id":1)"},
                  {"kernel", "k", 7, 30, 5, R"("correlation":7)", 0},
                  {"gpu_memcpy", "copy", 7, 40, 5, R"("correlation":7)", 0},
                  {"kernel", "unlaunched", 7, 60, 5, R"("correlation":8,"External id":1)", 0},
                  {"kernel", "alone", 7, 70, 5, "", 0}};
  EXPECT_EQ(d.op("launch"), "op") << "nesting is surer than the id";
  EXPECT_EQ(d.launch("k"), "launch");
  EXPECT_EQ(d.op("k"), "op");
  EXPECT_EQ(d.launch("copy"), "launch") << "one call may start several";
  EXPECT_EQ(d.launch("unlaunched"), "-");
  EXPECT_EQ(d.op("unlaunched"), "outer op");
  EXPECT_EQ(d.launch("alone"), "-");
  EXPECT_EQ(d.op("alone"), "-");
}

TEST(Links, TheOldSpellingOfTheExternalId) {
  const Derived d{{"Operator", "op", 1, 0, 5, R"("External id":3)"},
                  {"Kernel", "k", 7, 9, 5, R"("external id":3)", 0}};
  EXPECT_EQ(d.op("k"), "op");
}

TEST(Links, PassRangesThatAreNoOps) {
  const Derived d{{"cpu_op", "op", 1, 0, 50},
                  {"python_function", "py", 1, 5, 40},
                  {"user_annotation", "mark", 1, 6, 30},
                  {"cuda_runtime", "call", 1, 7, 5}};
  EXPECT_EQ(d.op("call"), "op");
}

TEST(Links, IdsOfZeroLinkNothing) {
  const Derived d{{"cpu_op", "op", 1, 0, 5, R"("External id":0)"},
                  {"cuda_runtime", "call", 2, 0, 5, R"("correlation":0)"},
                  {"kernel", "k", 7, 9, 5, R"("correlation":0,"External id":0)", 0}};
  EXPECT_EQ(d.launch("k"), "-");
  EXPECT_EQ(d.op("k"), "-");
}

TEST(Steps, OfAFileWithoutMarksIsTheWholeRecording) {
  const Derived d{{"cpu_op", "a", 1, 5, 5}, {"kernel", "k", 7, 20, 10, "", 0}};
  ASSERT_EQ(d.rank().steps.size(), 1u);
  EXPECT_EQ(d.rank().steps[0].start, 5000);
  EXPECT_EQ(d.rank().steps[0].end, 30000);
  EXPECT_EQ(d.rank().steps[0].row, kNoRow);
  EXPECT_EQ(d.step("a"), 0);
  EXPECT_EQ(d.step("k"), 0);
}

TEST(Steps, HostRowsByStartAndDeviceRowsByLaunch) {
  const Derived d{{"user_annotation", "ProfilerStep#4", 1, 0, 10},
                  {"user_annotation", "ProfilerStep#5", 1, 10, 10},
                  {"cuda_runtime", "launch", 1, 8, 1, R"("correlation":7)"},
                  {"kernel", "late kernel", 7, 15, 30, R"("correlation":7)", 0},
                  {"kernel", "before the recording", 7, 12, 1, "", 0},
                  {"kernel", "lost launch", 7, 46, 1, "", 0},
                  {"kernel", "no launches", 8, 12, 1, "", 0},
                  {"cpu_op", "at the end", 1, 20, 1},
                  {"cpu_op", "behind", 1, 25, 1}};
  ASSERT_EQ(d.rank().steps.size(), 2u);
  EXPECT_EQ(d.rank().steps[0].number, 4);
  EXPECT_EQ(d.rank().steps[0].device_end, 45000);
  EXPECT_EQ(d.rank().steps[1].device_end, trace::kNoTime) << "it launched nothing";
  EXPECT_EQ(d.step("launch"), 0);
  EXPECT_EQ(d.step("late kernel"), 0) << "its launch lies in the first step";
  EXPECT_EQ(d.step("before the recording"), -1) << "a stream keeps the order of launches";
  EXPECT_EQ(d.step("lost launch"), 0) << "that of the kernel before it";
  EXPECT_EQ(d.step("no launches"), 1) << "its stream has no launches: by its start";
  EXPECT_EQ(d.step("behind"), -1);
}

TEST(Steps, NamesThatAreNoStep) {
  const Derived d{
      {"user_annotation", "ProfilerStep#", 1, 0, 1},   {"user_annotation", "ProfilerStep#x", 1, 1, 1},
      {"user_annotation", "ProfilerStep#7b", 1, 2, 1}, {"user_annotation", "MyProfilerStep#7", 1, 3, 1},
      {"kernel", "ProfilerStep#8", 7, 4, 1},           {"user_annotation", "ProfilerStep #9", 1, 5, 1}};
  ASSERT_EQ(d.rank().steps.size(), 1u);
  EXPECT_EQ(d.rank().steps[0].number, 9);
}

TEST(WorkClass, ByKindThenMetadataThenName) {
  const Derived d{{"kernel", "gemm", 7, 0, 1, "", 0},
                  {"kernel", "ncclDevKernel_AllReduce", 7, 1, 1, "", 0},
                  {"kernel", "plain name", 7, 2, 1, R"("Collective name":"allreduce")", 0},
                  {"gpu_memcpy", "c", 7, 3, 1, "", 0},
                  {"gpu_memset", "f", 7, 4, 1, "", 0},
                  {"cpu_op", "nccl op", 1, 5, 1}};
  using trace::Work;
  EXPECT_EQ(d.work("gemm"), Work::compute);
  EXPECT_EQ(d.work("ncclDevKernel_AllReduce"), Work::communication);
  EXPECT_EQ(d.work("plain name"), Work::communication);
  EXPECT_EQ(d.work("c"), Work::copy);
  EXPECT_EQ(d.work("f"), Work::fill);
  EXPECT_EQ(d.work("nccl op"), Work::none);
}

TEST(IdIndex, DenseAndSparseIdsAndTheFirstOfEqualOnes) {
  for (std::int64_t stride : {std::int64_t{1}, std::int64_t{1} << 40}) {
    IdIndex index;
    for (std::int64_t i = 1; i <= 50; ++i) index.add(i * stride, static_cast<Row>(i));
    index.add(7 * stride, 999);
    index.add(0, 5);
    index.add(-3, 6);
    index.build();
    EXPECT_EQ(index.find(7 * stride), 7u);
    EXPECT_EQ(index.find(50 * stride), 50u);
    EXPECT_EQ(index.find(51 * stride), kNoRow);
    EXPECT_EQ(index.find(0), kNoRow);
    EXPECT_EQ(index.find(-3), kNoRow);
    EXPECT_EQ(index.find(std::numeric_limits<std::int64_t>::max()), kNoRow);
  }
  IdIndex empty;
  empty.build();
  EXPECT_EQ(empty.find(1), kNoRow);
}

}  // namespace
}  // namespace stepscope::derive
