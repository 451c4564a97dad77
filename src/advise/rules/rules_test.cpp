#include "advise/rules/rules.h"

#include <fmt/format.h>

#include "advise/verdict.h"
#include "make_rank.h"

namespace stepscope::advise {
namespace {

using test::Cells;

/// A step whose host does nothing but `count` launches, `call_length` + `gap` µs apart, in a range of that
/// name. Each launches one device event of `length` µs that ends 2 µs after the call. Then it launches 2 ms
/// of other work, beside which `unlinked` kernels run whose launches are not recorded.
struct Planted {
  std::string range = "", category = "kernel", event = "k", call = "cudaLaunchKernel", args = "";
  int count = 100, length = 1, call_length = 8;
  int begin = 10;  ///< µs: the first launch
  int gap = 2;     ///< µs from a launch's end to the next one
  int unlinked = 0;
  std::string more = "";
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
  int at = p.begin;
  for (int i = 0; i < p.count; ++i, at += p.call_length + p.gap)
    events += launched(i + 1, p.call, at, p.call_length, p.category, p.event,
                       at + p.call_length + 2 - p.length, p.length, p.args);
  const std::string range = fmt::format(
      R"J({{"ph": "X", "cat": "user_annotation", "name": "{}", "pid": 5, "tid": 5, "ts": 5, "dur": {}}},)J",
      p.range, at - 5);
  for (int i = 0; i < 20; ++i)
    events += launched(1000 + i, "cudaLaunchKernel", at + 5 + 2 * i, 1, "kernel", "work", at + 50 + 100 * i,
                       100, "");
  for (int i = 0; i < p.unlinked; ++i)
    events += fmt::format(
        R"J({{"ph": "X", "cat": "kernel", "name": "beside", "pid": 0, "tid": 8, "ts": {}, "dur": 1, "args": {{"device": 0, "stream": 8}}}},
)J",
        at + 60 + 10 * i);
  return fmt::format(
      R"J({{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": {}}},
{}{}{})J",
      at + 50, p.more, range, events.substr(0, events.rfind(',')));
}

Cells found(const Planted& planted, const char* column = "id") {
  const trace::Trace trace = test::open_events(step_of(planted));
  const analyze::Derived derived(trace, {});
  return test::cells(as_report(verdict(derived, gather(derived, 1), 1)).tables[1], column);
}

bool has(const Cells& ids, const char* id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

TEST(Rules, OptimizerLoop) {
  Planted loop{"Optimizer.step#SGD.step"};
  const Cells ids = found(loop);
  ASSERT_TRUE(has(ids, "H03"));
  const auto at = static_cast<std::size_t>(std::find(ids.begin(), ids.end(), "H03") - ids.begin());
  EXPECT_EQ(found(loop, "title")[at],
            "The optimizer launches 100 kernels per step, median 1 µs (the file has only whole µs)");
  EXPECT_NE(found(loop, "remedy")[at].find("torch.optim.SGD(..., fused=True)"), std::string::npos);
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

/// A cell of the finding `id`; "" if there is none.
std::string cell(const Planted& planted, const char* id, const char* column) {
  const Cells ids = found(planted);
  const auto at = std::find(ids.begin(), ids.end(), id);
  return at == ids.end() ? "" : found(planted, column)[static_cast<std::size_t>(at - ids.begin())];
}

/// 100 launches of 1 µs, one every 10 µs, in that range. A quarter of the device events have no launch, so
/// nothing can be replayed. The device has nothing to do for 7 µs before each launch but the first, and the
/// range begins 5 µs before that one: 698 µs.
Planted without_replay(const char* range) {
  Planted planted{range};
  planted.call_length = 1;
  planted.gap = 9;
  planted.unlinked = 40;
  return planted;
}

void expect_estimate(const Planted& planted, const char* id, double low, double high) {
  EXPECT_NEAR(std::stod("0" + cell(planted, id, "saving_low")), low, 8'000) << id;
  EXPECT_NEAR(std::stod("0" + cell(planted, id, "saving_high")), high, 8'000) << id;
  EXPECT_EQ(cell(planted, id, "confidence"), "low") << id;
  EXPECT_NE(cell(planted, id, "because").find("the recording cannot be replayed"), std::string::npos) << id;
}

TEST(Rules, WhatCannotBeReplayedIsEstimated) {
  expect_estimate(without_replay("Optimizer.step#SGD.step"), "H03", 698'000 * 0.5, 698'000 * 0.85);
  expect_estimate(without_replay("Optimizer.zero_grad#SGD.zero_grad"), "H04", 698'000 * 0.7, 698'000);
  Planted broadcast = without_replay("unflatten_dense_tensors");
  broadcast.more =
      R"J({"ph": "X", "cat": "user_annotation", "name": "DistributedDataParallel.forward", "pid": 5, "tid": 5, "ts": 1, "dur": 2},)J";
  expect_estimate(broadcast, "N10", 698'000 * 0.5, 698'000);
}

// 4 MB in 400 µs are 10 GB/s; at 12 the copy, which nothing hides, takes a sixth less.
TEST(Rules, APageableCopyThatCannotBeReplayed) {
  Planted copy = without_replay("batch");
  copy.count = 1;
  copy.category = "gpu_memcpy";
  copy.event = "Memcpy HtoD (Pageable -> Device)";
  copy.call = "cudaMemcpyAsync";
  copy.args = R"(, "bytes": 4000000)";
  copy.length = 400;
  copy.call_length = 500;
  EXPECT_EQ(cell(copy, "C01", "saving_low"), "39999");
  EXPECT_EQ(cell(copy, "C01", "saving_high"), "66666");
  EXPECT_NE(cell(copy, "C01", "because").find("the recording cannot be replayed"), std::string::npos);
}

/// 60 of DDP's ranges of 8 µs, one every 10 µs; 6 µs of each are the operator that launches a copy.
Planted bucket_copies(bool linked) {
  Planted planted;
  planted.count = 0;
  planted.begin = 620;
  planted.unlinked = linked ? 0 : 40;
  const auto add = [&](const char* category, const char* name, int tid, int at, int length,
                       const std::string& args) {
    planted.more += fmt::format(
        R"J({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}},)J",
        category, name, tid == 7 ? 0 : 5, tid, at, length, args);
  };
  add("user_annotation", "DistributedDataParallel.forward", 5, 6, 2, "");
  for (int i = 0; i < 60; ++i) {
    const std::string link = fmt::format(R"("correlation": {})", 5000 + i);
    const int at = 10 * (i + 1);
    add("cpu_op", "torch.distributed.ddp.reducer::copy_bucket_to_grad", 5, at, 8, "");
    add("cpu_op", "aten::copy_", 5, at + 2, 6, "");
    add("cuda_runtime", "cudaMemcpyAsync", 5, at + 3, 1, link);
    add("gpu_memcpy", "Memcpy DtoD (Device -> Device)", 7, at + 5, 1, R"("device": 0, "stream": 7, )" + link);
  }
  return planted;
}

// The device has nothing to do from each copy's end for 7 µs until the next call: 2 µs in the operator, 2
// outside and 3 in the next range, of which 2 before its operator. The operator is three quarters of a range,
// so 224 of the 298 µs idle in ranges are saved. The replay removes 60 × 6 µs of the host.
TEST(Rules, BucketCopies) {
  EXPECT_NEAR(std::stod("0" + cell(bucket_copies(false), "N09", "saving_high")), 224'000, 4'000);
  EXPECT_EQ(cell(bucket_copies(false), "N09", "confidence"), "low");
  EXPECT_NEAR(std::stod("0" + cell(bucket_copies(true), "N09", "saving_high")), 360'000, 12'000);
}

}  // namespace
}  // namespace stepscope::advise
