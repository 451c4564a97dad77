// What a path of the program's lines cost, while `lines` adds it up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>

#include "base/text.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// "nn.Module: Net_0" in recorded calls, "torch/nn/modules/module.py(…): …_call_impl" in samples.
inline bool is_module_call(std::string_view frame) {
  return frame.starts_with("nn.Module: ") ||
         (has(frame, "torch/nn/modules/module.py(") && frame.ends_with("_call_impl"));
}

inline bool is_checkpointing(std::string_view frame) { return has(frame, "torch/utils/checkpoint.py("); }

inline bool is_checkpoint_call(std::string_view frame) {
  return is_checkpointing(frame) && frame.ends_with(": checkpoint");
}

/// A process unpacks tensors that another one sent it, such as a DataLoader's worker.
inline bool is_unpacking(std::string_view frame) {
  return has(frame, "torch/multiprocessing/reductions.py(") ||
         has(frame, "multiprocessing/resource_sharer.py(");
}

/// A parametrized weight is computed, as at each access outside of parametrize.cached().
inline bool is_parametrization(std::string_view frame) {
  return has(frame, "torch/nn/utils/parametrize.py(");
}

inline bool is_traceback(std::string_view frame) { return frame.starts_with("traceback.py("); }

/// Where a loader's worker begins. In a forked one, the frames outside are its parent's.
inline bool is_worker_loop(std::string_view frame) {
  return has(frame, "torch/utils/data/_utils/worker.py(") && frame.ends_with(": _worker_loop");
}

inline bool is_distributed_call(std::string_view frame) { return has(frame, "torch/distributed/"); }

/// The calls of one operator by a line. Times in ns, with the backward pass.
struct OpSum {
  std::int64_t calls = 0;
  timeline::Time time = 0, longest = 0;
  trace::Row longest_call = trace::kNoRow;
};

/// What a path of lines cost, without the paths below it.
struct PathSum {
  timeline::Time time = 0, in_ops = 0, loading = 0, besides = 0, calling = 0, backward = 0, called_back = 0;
  timeline::Time work = 0, element_wise = 0, communicating = 0;
  std::int64_t ops = 0;
  timeline::Time first = 0, last = 0;  ///< of `time`, in the first and in the last third of the window
  timeline::Time in_backward = 0;
  timeline::Time in_passes = 0;      ///< of `time`, see LineCost::in_passes
  timeline::Time parametrizing = 0;  ///< a parametrized weight that the line itself accesses is computed
  bool calls_module = false, checkpoints = false, sampled = false;
  std::map<trace::StringId, timeline::Time> callees;
  std::map<trace::StringId, OpSum> ops_by_name;
};

/// The operator with most time, and its sum; end() if there is none.
inline auto dearest_operator(const std::map<trace::StringId, OpSum>& operators) {
  return std::max_element(operators.begin(), operators.end(),
                          [](const auto& a, const auto& b) { return a.second.time < b.second.time; });
}

/// The callee that holds at least half of `self` with the least time of all that do, i.e. the innermost.
inline trace::StringId innermost_callee(const std::map<trace::StringId, timeline::Time>& callees,
                                        timeline::Time self) {
  trace::StringId innermost = trace::kEmptyString;
  timeline::Time least = self + 1;
  for (const auto& [name, time] : callees) {
    if (2 * time < self || time >= least) continue;
    least = time;
    innermost = name;
  }
  return innermost;
}

}  // namespace stepscope::analyze
