#include "advise/rules.h"

#include <fmt/format.h>

#include "advise/verdict.h"
#include "make_rank.h"

namespace stepscope::advise {
namespace {

using test::Cells;

/// A step whose host does nothing else than `count` launches of 10 µs in a range of that name, each of one
/// device event that runs `length` µs and starts 2 µs after its launch; then it launches 2 ms of other work.
struct Planted {
  std::string range = "", category = "kernel", event = "k", call = "cudaLaunchKernel", args = "";
  int count = 100, length = 1, call_length = 8;
};

std::string step_of(const Planted& p) {
  const auto launched = [](int id, const std::string& call, int at, int call_length,
                           const std::string& category, const std::string& event, int from, int length,
                           const std::string& args) {
    return fmt::format(
        R"J({{"ph": "X", "cat": "cuda_runtime", "name": "{1}", "pid": 5, "tid": 5, "ts": {2}, "dur": {3}, "args": {{"correlation": {0}}}}},
{{"ph": "X", "cat": "{4}", "name": "{5}", "pid": 0, "tid": 7, "ts": {6}, "dur": {7}, "args": {{"device": 0, "stream": 7, "correlation": {0}{8}}}}},
)J",
        id, call, at, call_length, category, event, from, length, args);
  };
  std::string events;
  int at = 10;
  for (int i = 0; i < p.count; ++i, at += p.call_length + 2)
    events += launched(i + 1, p.call, at, p.call_length, p.category, p.event,
                       at + p.call_length + 2 - p.length, p.length, p.args);
  const std::string range = fmt::format(
      R"J({{"ph": "X", "cat": "user_annotation", "name": "{}", "pid": 5, "tid": 5, "ts": 5, "dur": {}}},)J",
      p.range, at - 5);
  for (int i = 0; i < 20; ++i)
    events += launched(1000 + i, "cudaLaunchKernel", at + 5 + 2 * i, 1, "kernel", "work", at + 50 + 100 * i,
                       100, "");
  return fmt::format(
      R"J({{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": {}}},
{}{})J",
      at + 50, range, events.substr(0, events.rfind(',')));
}

Cells found(const Planted& planted, const char* column = "id") {
  const trace::Trace trace = test::open_events(step_of(planted));
  const analyze::Derived derived(trace, {});
  return test::cells(verdict(derived, gather(derived, {}, 1), 1).tables[1], column);
}

bool has(const Cells& ids, const char* id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

TEST(Rules, OptimizerLoop) {
  Planted loop{"Optimizer.step#SGD.step"};
  const Cells ids = found(loop);
  ASSERT_TRUE(has(ids, "H03"));
  const auto at = static_cast<std::size_t>(std::find(ids.begin(), ids.end(), "H03") - ids.begin());
  EXPECT_EQ(found(loop, "title")[at],
            "The optimizer launches 100 kernels per step, half of them shorter than 1.00 µs");
  loop.count = 99;
  EXPECT_FALSE(has(found(loop), "H03"));
}

TEST(Rules, ZeroFill) {
  Planted fill{"Optimizer.zero_grad#SGD.zero_grad", "gpu_memset", "Memset (Device)", "cudaMemsetAsync"};
  fill.count = 20;
  EXPECT_TRUE(has(found(fill), "H04"));
  fill.count = 19;
  EXPECT_FALSE(has(found(fill), "H04"));
}

TEST(Rules, PageableCopy) {
  Planted copy{"batch", "gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", "cudaMemcpyAsync",
               R"(, "bytes": 4000000)"};
  copy.count = 1;
  copy.length = 400;
  copy.call_length = 500;
  EXPECT_TRUE(has(found(copy), "C01"));
  copy.event = "Memcpy HtoD (Pinned -> Device)";
  EXPECT_FALSE(has(found(copy), "C01"));
  copy.event = "Memcpy HtoD (Pageable -> Device)";
  copy.args = R"(, "bytes": 3999999)";
  EXPECT_FALSE(has(found(copy), "C01"));
}

}  // namespace
}  // namespace stepscope::advise
