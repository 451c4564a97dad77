// What the time of a step went to, piece by piece: a kernel or the host, under an op, in a module.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::compare {

struct Leaf {
  std::string module;           ///< "Net › Linear#1", siblings of one class numbered; "" outside modules
  std::vector<std::string> op;  ///< from the outermost range down
  std::size_t first_op = 0;     ///< how many of them are ranges of the program around its first operator
  std::string kernel;           ///< of the host what it did: a runtime call, "host code", "Python"
  bool device = false;
  int work_class = 0;             ///< equal for work of one sort
  std::int64_t first = 0;         ///< ns from the begin of a step to its first instant
  double calls = 0;               ///< device events per step
  std::vector<double> time = {};  ///< ns per step, by sample
};

/// "matrix", "copy", "host": of Leaf::work_class.
std::string_view name_of_class(int work_class);

/// "aten::linear › aten::addmm"; the first `levels` names.
std::string joined(const std::vector<std::string>& names, std::size_t levels = SIZE_MAX);

}  // namespace stepscope::compare
