// The problems that can be planted, by name, and the options of a run with one of them repaired.
#pragma once

#include <string>
#include <vector>

#include "make_trace/options.h"

namespace stepscope::make_trace {

struct Planted {
  std::string name;
  double size = 0;
  std::string unit;
  std::string rule;     ///< id of the advice rule that should name it
  int rank = -1;        ///< -1: all
  std::string phase;    ///< the straggler's phase
  std::string program;  ///< what the program does, in one sentence
};

std::vector<Planted> planted_problems(const Options& options);

/// `name` is a problem or "all". Clocks are no problem: they change what is written, not what happens.
Options repaired(Options options, const std::string& name);

bool is_problem_name(const std::string& name);

}  // namespace stepscope::make_trace
