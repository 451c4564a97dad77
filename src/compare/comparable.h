// Whether two recordings are of the same thing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compare/counted_steps.h"
#include "trace/trace.h"

namespace stepscope::compare {

/// How often something was done per step, and how much.
struct Work {
  double calls = 0, amount = 0;
};
using WorkByName = std::map<std::string, Work>;

/// What a recording is of.
struct Subject {
  std::size_t ranks;
  bool marked;                                                               ///< has step marks
  std::int64_t world_size = -1;                                              ///< -1: the files do not say
  std::string devices = {};                                                  ///< names, "" for none
  bool collectives = false, python = false, memory = false, shapes = false;  ///< some are recorded
  WorkByName operators = {};                   ///< of the counted steps; amount: FLOPs
  WorkByName copies = {};                      ///< by name and operator; amount: bytes
  const trace::Rank* only_critical = nullptr;  ///< the first rank that is a copy of a critical path
  const trace::Rank* damaged = nullptr;        ///< the first rank that is
};
Subject subject_of(const trace::Trace& trace, const CountedSteps& counted);

/// Sentences why a difference in time is not one of the program: another number of ranks, another device,
/// other work, other options of the profiler, damage. None: they can be compared. The names are what the
/// sides are called.
std::vector<std::string> not_comparable(const Subject& a, const Subject& b, const std::string& name_a,
                                        const std::string& name_b);

}  // namespace stepscope::compare
