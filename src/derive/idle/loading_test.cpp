#include "derive/idle/loading.h"

#include "make_rank.h"

namespace stepscope::derive {
namespace {

std::string event(std::string_view category, std::string_view name, int tid, int ts, int dur,
                  std::string_view args = "") {
  const bool device = category == "kernel" || category == "mtia_ccp_events";
  return "{\"ph\":\"X\",\"cat\":\"" + std::string(category) + "\",\"name\":\"" + std::string(name) +
         "\",\"pid\":" + (device ? "0" : "5") + ",\"tid\":" + std::to_string(tid) +
         ",\"ts\":" + std::to_string(ts) + ",\"dur\":" + std::to_string(dur) + ",\"args\":{" +
         std::string(args) + "}},";
}

trace::Trace opened(const std::string& events) {
  return test::open_events(events + R"({"ph":"M","name":"process_name","pid":5,"args":{"name":"p"}})");
}

const std::string kFrame =
    event("python_function", "torch/utils/data/dataloader.py(701): __next__", 1, 10, 40) +
    event("python_function", "torch/utils/data/dataloader.py(701): __next__", 1, 15, 5);
const std::string kMark =
    event("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 12, 30) +
    event("cpu_op", "enumerate(DataLoader)#inner.__next__", 1, 14, 3);

TEST(Loading, MarksOrElseFramesTheOutermostOnes) {
  const trace::Trace marked = opened(kFrame + kMark), framed = opened(kFrame),
                     none = opened(event("cpu_op", "a", 1, 1, 1));
  EXPECT_EQ(loading_time(marked, marked.ranks[0]), timeline::IntervalSet::of({{12'000, 42'000}}));
  EXPECT_EQ(loading_time(framed, framed.ranks[0]), timeline::IntervalSet::of({{10'000, 50'000}}));
  EXPECT_EQ(loading_rows(framed, framed.ranks[0]).size(), 1u);
  EXPECT_TRUE(loading_time(none, none.ranks[0]).empty());
}

// A kernel, a wait for it until 8, loading by frames from 10 to 50, the next kernel at 60. All analyses
// report the same 40 µs of loading.
TEST(Loading, IsTheSameForEveryAnalysis) {
  const trace::Trace trace =
      opened(event("cuda_runtime", "cudaLaunchKernel", 1, 0, 1, R"("correlation":1)") +
             event("cuda_runtime", "cudaDeviceSynchronize", 1, 3, 5) +
             event("cuda_runtime", "cudaLaunchKernel", 1, 55, 1, R"("correlation":2)") + kFrame +
             event("kernel", "k", 7, 2, 3, R"("device":0,"stream":7,"correlation":1)") +
             event("kernel", "k", 7, 60, 3, R"("device":0,"stream":7,"correlation":2)"));
  const report::Report idle = test::answer("idle", trace);
  EXPECT_EQ(test::cells(idle.tables[0], "cause")[0], "input");
  EXPECT_EQ(test::cells(idle.tables[0], "time")[0], "40000");
  const report::Report waits = test::answer("input_wait", trace);
  EXPECT_EQ(test::cells(waits.tables[0], "total"), (test::Cells{"40000"}));
  const report::Report synchronizations = test::answer("synchronizations", trace);
  EXPECT_EQ(test::cells(synchronizations.tables[0], "refill"),
            (test::Cells{"12000"}));  // [8, 10) and [50, 60)
}

}  // namespace
}  // namespace stepscope::derive
