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
  std::int64_t world_size = -1;                                              ///< -1: not recorded
  std::string devices = {};                                                  ///< names; "" if none
  bool collectives = false, python = false, memory = false, shapes = false;  ///< whether any are recorded
  WorkByName operators = {};       ///< in the counted steps; amount: FLOPs
  WorkByName copies = {};          ///< by name and operator; amount: bytes
  std::string only_critical = {};  ///< path of the first rank that is a copy of a critical path; "" if none
  std::string damaged = {};        ///< path of the first damaged rank; "" if none
  std::uint64_t events = 0;        ///< a hash of the names and times of all events; 0: there are none
};
Subject subject_of(const trace::Trace& trace, const CountedSteps& counted);

/// Why a difference in time may not come from the program, a sentence each: another number of ranks, another
/// device, other work, other options of the profiler, damage. Empty: the recordings can be compared.
/// `name_a`, `name_b`: the names of the sides in the sentences.
std::vector<std::string> not_comparable(const Subject& a, const Subject& b, const std::string& name_a,
                                        const std::string& name_b);

/// Whether both are one recording, by whatever path.
bool same_recording(const Subject& a, const Subject& b);

}  // namespace stepscope::compare
