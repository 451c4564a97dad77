// The nn.Module that a host range or a device event belongs to, forward and backward.
#pragma once

#include <string_view>
#include <vector>

#include "analyze/question.h"
#include "derive/call_paths.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// Modules by path: Python ranges "nn.Module: …", or where there are none the `Module Hierarchy` of ops.
struct ModulePaths {
  derive::CallPaths paths;
  derive::HostPaths host;
  bool counts_calls = false;
  /// By row, of host ranges outside modules: the path of the forward op that a backward op at or above them
  /// belongs to (equal `Sequence number`), kNoPath otherwise.
  std::vector<derive::PathId> backward;
};

ModulePaths module_paths(const trace::Trace& trace, const trace::Rank& rank, const StepChoice& choice);

/// "Linear_3" → "Linear"; "layer1(torch.Sequential)" → "torch.Sequential".
std::string_view class_of_module(std::string_view module);

}  // namespace stepscope::analyze
