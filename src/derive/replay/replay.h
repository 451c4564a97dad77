// Replay: a rank re-timed with shorter or longer host work and device events.
#pragma once

#include <vector>

#include "derive/replay/plan.h"

namespace stepscope::derive {

/// Differences from the recording. A factor of 0 removes, 1 keeps.
struct Changes {
  struct Host {
    trace::Row row;  ///< a host range: all host time in it on its thread is scaled
    double factor;
  };
  std::vector<Host> host;      ///< if several overlap, the smallest factor applies
  std::vector<double> device;  ///< by event of the plan; empty: all 1
  std::vector<double> starts;  ///< by event: factor on latency (below 1: fewer of them start); empty: all 1
  double waits = 1;            ///< factor on the time in calls that wait for device work
};

struct Replayed {
  Column<timeline::Time> start, end;  ///< by event of the plan
  std::vector<timeline::Time> marks;  ///< by mark of the plan
};

/// One pass over the plan's nodes, in whole ns. A thread's work takes its recorded time × its factor. An
/// event starts when all its dependencies are done, plus its latency. A waiting call returns when its event
/// has ended, plus its epilogue; in host time that is removed, it does not wait. A thread released by another
/// thread resumes as long after the other stopped as recorded.
///
/// Sources of error: waits that are neither recorded nor inferred; other ranks, whose waits are part of the
/// recorded length of collectives (see joint_replay.h); work whose length depends on concurrent work. Replay
/// without changes must give the recorded times: the difference measures the first source.
///
/// `pace`: factor on all host time, besides the changes. Below 1 it subtracts the recorder's cost to the
/// host.
Replayed replay(const trace::Rank& rank, const ReplayPlan& plan, const Changes& changes, double pace = 1);

}  // namespace stepscope::derive
