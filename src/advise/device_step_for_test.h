// For tests of rules: a step whose device is always busy with the work that a test plants.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "advise/rules/rules.h"
#include "advise/verdict.h"
#include "make_rank.h"

namespace stepscope::advise {

using test::Cells;

/// Device events of one kind, in a row.
struct Work {
  int count = 1;
  std::string name;
  int length = 100;  ///< µs
  std::string category = "kernel", args = "";
  int stream = 7;
  std::string op = "", op_args = "";  ///< the operator that launches it; "": the step's
};

/// A step that launches all of `work` within the first microseconds, in operators named `op`. Each stream
/// then runs its part without a gap.
struct Step {
  std::vector<Work> work;
  std::string op = "aten::op";
  std::string args = "";  ///< of `op`
  std::string more = "";  ///< further events, each followed by a comma
};

inline std::string events_of(const Step& step) {
  std::string events = step.more;
  int id = 0;
  std::map<int, int> until;
  for (const Work& work : step.work)
    for (int i = 0; i < work.count; ++i) {
      ++id;
      int& at = until.try_emplace(work.stream, 10).first->second;
      events += fmt::format(
          R"J({{"ph": "X", "cat": "cpu_op", "name": "{5}", "pid": 5, "tid": 5, "ts": {1}, "dur": 1.2{10}}},
{{"ph": "X", "cat": "cuda_runtime", "name": "{6}", "pid": 5, "tid": 5, "ts": {1}, "dur": 1, "args": {{"correlation": {0}}}}},
{{"ph": "X", "cat": "{2}", "name": "{3}", "pid": 0, "tid": {9}, "ts": {4}, "dur": {7}, "args": {{"device": 0, "stream": {9}, "correlation": {0}{8}}}}},
)J",
          id, 2 * id, work.category, work.name, at, work.op.empty() ? step.op : work.op,
          work.category == "kernel" ? "cudaLaunchKernel" : "cudaMemcpyAsync", work.length, work.args,
          work.stream, work.op_args.empty() ? step.args : work.op_args);
      at += work.length;
    }
  return fmt::format(
      R"J({{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 1990}},
{})J",
      events.substr(0, events.rfind(',')));
}

inline report::Table findings(const Step& step, const char* device = "NVIDIA H100") {
  const trace::Trace trace = test::open_json(fmt::format(
      R"J({{"schemaVersion": 1, "deviceProperties": [{{"id": 0, "name": "{}", "totalGlobalMem": 85000000000, "computeMajor": 9, "computeMinor": 0, "numSms": 132}}], "traceEvents": [{}]}})J",
      device, events_of(step)));
  const analyze::Derived derived(trace, {});
  return as_report(verdict(derived, gather(derived, 1), 1)).tables[1];
}

inline bool has(const Step& step, const std::string& id) {
  const Cells ids = test::cells(findings(step), "id");
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// A cell of the finding `id`; "" if there is none.
inline std::string cell(const Step& step, const std::string& id, const char* column) {
  const report::Table table = findings(step);
  const Cells ids = test::cells(table, "id");
  const auto found = std::find(ids.begin(), ids.end(), id);
  return found == ids.end() ? "" : test::cells(table, column)[static_cast<std::size_t>(found - ids.begin())];
}

inline const std::string kGemm = "sm90_xmma_gemm_bf16bf16",
                         kMul = "vectorized_elementwise_kernel<MulFunctor>",
                         kCast = "unrolled_elementwise_kernel<direct_copy_kernel_cuda, LoadWithCast>",
                         kStrided = "elementwise_kernel<direct_copy_kernel_cuda>";
inline const std::string kSized = R"(, "bytes": )";

}  // namespace stepscope::advise
