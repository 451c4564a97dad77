// The nn.Module that a host range or a device event belongs to, forward and backward.
#pragma once

#include <string_view>
#include <vector>

#include "analyze/question.h"
#include "derive/call_paths.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// Modules by path, from Python ranges "nn.Module: …" or, without those, from the ops' `Module Hierarchy`.
struct ModulePaths {
  derive::CallPaths paths;
  derive::HostPaths host;
  bool counts_calls = false;
  /// By row. For a host range outside modules, at or below a backward op: the path of the forward op with the
  /// same `Sequence number`. Otherwise kNoPath.
  Column<derive::PathId> backward;
};

ModulePaths module_paths(const trace::Trace& trace, const trace::Rank& rank, const StepChoice& choice);

/// "Linear_3" → "Linear"; "layer1(torch.Sequential)" → "torch.Sequential".
std::string_view class_of_module(std::string_view module);

}  // namespace stepscope::analyze
