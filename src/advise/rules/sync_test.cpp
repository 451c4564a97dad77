#include <fmt/format.h>

#include "advise/verdict.h"
#include "make_rank.h"

namespace stepscope::advise {
namespace {

using test::Cells;

/// A step of 30 rounds of 1,005 + `refill` µs: a launch of 2 µs; its kernel of 1,000 µs, which starts 1 µs
/// later; `call`, inside `op` if that is named, which returns 2 µs after the kernel's end; then `refill` µs
/// until the next launch.
struct Rounds {
  std::string call = "cudaStreamSynchronize", op = "aten::_local_scalar_dense", copy;
  int refill = 50;
  long bytes = 100'000;
  std::string other_op = "";  ///< in every second round
};

std::string step_of(const Rounds& r) {
  std::string events;
  const auto add = [&](const std::string& category, const std::string& name, int pid, int tid, int from,
                       int length, const std::string& args) {
    events += fmt::format(
        R"J({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}},)J",
        category, name, pid, tid, from, length, args);
  };
  int at = 0;
  for (int i = 1; i <= 30; ++i, at += 1005 + r.refill) {
    const std::string link = fmt::format(R"("correlation": {})", i),
                      copied = fmt::format(R"("correlation": {})", 100 + i);
    add("cuda_runtime", "cudaLaunchKernel", 5, 5, at, 2, link);
    add("kernel", "k", 0, 7, at + 3, 1000, R"("device": 0, "stream": 7, )" + link);
    if (!r.op.empty())
      add("cpu_op", i % 2 == 0 && !r.other_op.empty() ? r.other_op : r.op, 5, 5, at + 3, 1002, "");
    if (!r.copy.empty()) {
      add("cuda_runtime", "cudaMemcpyAsync", 5, 5, at + 4, 1, copied);
      add("gpu_memcpy", r.copy, 0, 7, at + 1003, 1,
          fmt::format(R"("device": 0, "stream": 7, "bytes": {}, )", r.bytes) + copied);
    }
    add("cuda_runtime", r.call, 5, 5, at + 5, 1000, "");
  }
  add("user_annotation", "ProfilerStep#1", 5, 5, 0, at, "");
  events.pop_back();
  return events;
}

Cells findings_of(const Rounds& rounds, const char* column = "id") {
  const trace::Trace trace = test::open_events(step_of(rounds));
  const analyze::Derived derived(trace, {});
  return test::cells(as_report(verdict(derived, gather(derived, 1), 1)).tables[1], column);
}

// The device idles 2 µs in each of 30 waits and 50 after it: 1,560 of 31,650 µs.
TEST(SyncRules, ReadsOfValues) {
  EXPECT_EQ(findings_of({}), Cells{"S01"});
  EXPECT_EQ(
      findings_of({}, "title")[0],
      "1.56 ms of 31.6 ms per step: the host reads a value from the device 30 times per step; .item() drains "
      "the device's queue");
  EXPECT_EQ(findings_of({}, "confidence")[0], "medium");  // lowered: only one step
  Rounds prompt;
  prompt.refill = 0;  // 2 of 1,005 µs
  EXPECT_EQ(findings_of(prompt), Cells{});
}

TEST(SyncRules, WhatWaitsNamesTheRule) {
  Rounds rounds;
  rounds.op = "aten::nonzero";
  EXPECT_EQ(findings_of(rounds), Cells{"S03"});
  rounds.op = "";
  EXPECT_EQ(findings_of(rounds), Cells{"S02"});
  rounds.op = "aten::copy_";
  rounds.copy = "Memcpy DtoH (Device -> Pageable)";
  EXPECT_EQ(findings_of(rounds), Cells{"S04"});
  rounds.copy = "CopyDeviceToHost";
  EXPECT_EQ(findings_of(rounds), Cells{"S04"});
  rounds.copy = "Memcpy HtoD (Pageable -> Device)";
  EXPECT_EQ(findings_of(rounds), Cells{});  // a copy to the device has a rule of its own
  rounds.refill = 0;
  rounds.copy = "Memcpy DtoH (Device -> Pageable)";
  EXPECT_EQ(findings_of(rounds), Cells{});
}

// Two operators that copy 8 EiB a time: no recording has that, and sums of them stay numbers.
TEST(SyncRules, AbsurdBytes) {
  Rounds rounds;
  rounds.op = "aten::copy_";
  rounds.other_op = "aten::to";
  rounds.copy = "Memcpy DtoH (Device -> Pageable)";
  rounds.bytes = INT64_MAX;
  ASSERT_FALSE(findings_of(rounds, "title").empty());
  EXPECT_NE(findings_of(rounds, "title")[0].find("8192 PiB"), std::string::npos)
      << findings_of(rounds, "title")[0];
}

}  // namespace
}  // namespace stepscope::advise
