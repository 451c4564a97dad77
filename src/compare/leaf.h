// One piece of the time of a step: a kernel or the host, under an op, in a module.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::compare {

struct Leaf {
  std::string module;           ///< "Net › Linear#1", siblings of one class numbered; "" outside modules
  std::vector<std::string> op;  ///< from the outermost range down
  std::size_t first_op = 0;     ///< how many leading names in `op` are ranges of the program, not operators
  std::string kernel;           ///< kernel name; on the host a runtime call, "host code" or "Python"
  bool device = false;
  int work_class = 0;             ///< equal for work of one kind
  std::int64_t first = 0;         ///< min over steps: ns from the step's begin to the first instant
  double calls = 0;               ///< device events per step
  std::vector<double> time = {};  ///< ns per step, by sample
};

/// Name of a Leaf::work_class: "matrix", "copy", "host".
std::string_view name_of_class(int work_class);

/// The first `levels` names: "aten::linear › aten::addmm".
std::string joined(const std::vector<std::string>& names, std::size_t levels = SIZE_MAX);

}  // namespace stepscope::compare
