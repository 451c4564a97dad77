// Where in the program an event of one rank comes from, by names that another recording shares.
#pragma once

#include <string>
#include <vector>

#include "analyze/host/module_paths.h"
#include "derive/call_paths.h"
#include "trace/trace.h"

namespace stepscope::compare {

/// For every host range of a rank: its path of ops and annotations (without step marks), and its module.
class Places {
 public:
  Places(const trace::Trace& trace, const trace::Rank& rank);

  /// The path of ops and the module of a host range; kNoPath for kNoRow, and outside all ops or modules.
  derive::PathId op(trace::Row host_row) const;
  derive::PathId module(trace::Row host_row) const;

  std::vector<std::string> op_names(derive::PathId path) const;
  /// Number of leading names of the path that are ranges of the program, not operators.
  std::size_t first_op(derive::PathId path) const;
  const std::string& module_name(derive::PathId path) const { return module_names_[path]; }

 private:
  derive::CallPaths paths_;
  Column<derive::PathId> path_;  // by row
  std::vector<bool> is_op_;      // by path
  analyze::ModulePaths modules_;
  std::vector<std::string> module_names_;  // by path
};

/// Full names of module paths: classes, with a number for the second and later siblings of one class.
/// Recorded module numbers differ between runs; their order does not.
std::vector<std::string> stable_module_names(const derive::CallPaths& paths);

}  // namespace stepscope::compare
