// Loops of operators in the program, and what they launch.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/repeated_ops.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// The operators of a run's first round, e.g. "aten::select aten::mul".
std::string loop_unit(const trace::Trace& trace, const trace::Rank& rank, const derive::RepeatedOps& run);

/// Loops of the same operators, `unit`, below one range. Times in ns. Ranks have separate rows.
struct OpLoop {
  std::int64_t rank = -1;
  std::string unit, parent;              ///< the operators of a round; the range around the loop
  std::string source;                    ///< source line of the first operator
  std::string region;                    ///< the outermost user range, excluding step marks
  std::int64_t loops = 0, times = 0;     ///< number of runs; total of their rounds
  std::int64_t waits = 0;                ///< calls that wait for the device
  std::int64_t host = 0;                 ///< from the first operator's begin to the last operator's end
  std::int64_t recording = 0;            ///< of `host`, the cost of recording, as capture estimates it
  std::int64_t idle = report::kNoInt;    ///< of `host`, device idle for launches; kNoInt without a device
  std::int64_t pauses = report::kNoInt;  ///< device idle right before events that waited in their queue
  std::int64_t events = 0, device = 0;   ///< device events launched in the loops; sum of their lengths
  std::int64_t median = report::kNoInt;  ///< median length of these events
};
extern const report::Sheet<OpLoop> kLoopSheet;

/// Adds a rank's loops in the chosen steps, most host time first. If a device is recorded, only loops that
/// launch something.
void add_loops(std::vector<OpLoop>& loops, const Derived& derived, const trace::Rank& rank);

}  // namespace stepscope::analyze
