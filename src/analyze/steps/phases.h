// Which part of a step takes the time: data, forward, backward, optimizer or the program's own code.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/phases.h"

namespace stepscope::analyze {

using derive::Phase;

/// One phase of a rank. Times in ns within the window.
struct PhaseTime {
  std::int64_t rank;
  Phase phase;
  std::int64_t time;      ///< on the clock of the host
  std::int64_t per_step;  ///< report::kNoInt without complete steps
  double share;           ///< of the window
  std::int64_t ops;       ///< calls of operators that began in it, on any thread
  std::int64_t kernels;   ///< device work that was launched in it
  std::int64_t device;    ///< sum of the durations of that work
};

/// An operator in a phase. Times in ns within the window.
struct PhaseOp {
  std::int64_t rank;
  Phase phase;
  std::string op;
  std::int64_t calls;
  std::int64_t self;  ///< host time of the calls without the host ranges inside them
  double share;       ///< of the phase's time; may exceed 1 if several threads work
};

/// The phases of one step, ns.
struct StepPhases {
  std::int64_t rank, step;
  std::array<std::int64_t, derive::kPhases> times;
};

struct Phases {
  std::vector<PhaseTime> phases;
  std::vector<PhaseOp> ops;  ///< by rank; most `self` first
  std::vector<StepPhases> steps;
  std::vector<std::string> notes;
};
Phases phases_of(const Derived& derived);

}  // namespace stepscope::analyze
