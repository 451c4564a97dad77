// Loops of operators in the program, and what they launch.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/repeated_ops.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// "aten::select aten::mul", the operators of a run's first round.
std::string loop_unit(const trace::Trace& trace, const trace::Rank& rank, const derive::RepeatedOps& run);

/// Runs of the same operators, `unit`, below one range. Times in ns; of several ranks each has its own.
struct OpLoop {
  std::int64_t rank = -1;
  std::string unit, parent;              ///< the operators of a round; the range that holds them
  std::string source;                    ///< the line behind the first
  std::string region;                    ///< the outermost user range, step marks aside
  std::int64_t loops = 0, times = 0;     ///< runs, and their rounds in all
  std::int64_t waits = 0;                ///< calls that wait for the device
  std::int64_t host = 0;                 ///< from the first operator's begin to the last one's end
  std::int64_t recording = 0;            ///< what recording cost of `host`, as capture estimates it
  std::int64_t idle = report::kNoInt;    ///< of `host`, with the device idle for launches; without one kNoInt
  std::int64_t pauses = report::kNoInt;  ///< device idle right before events that waited in their queue
  std::int64_t events = 0, device = 0;   ///< launched there, and the sum of their lengths
  std::int64_t median = report::kNoInt;  ///< length of these events
};
extern const report::Sheet<OpLoop> kLoopSheet;

/// Adds a rank's loops of chosen steps, most host time first; where a device is recorded, those that launch
/// something.
void add_loops(std::vector<OpLoop>& loops, const Derived& derived, const trace::Rank& rank);

}  // namespace stepscope::analyze
