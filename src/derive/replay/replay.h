// Replay: a rank re-timed, with host work and device events made shorter or longer.
#pragma once

#include <vector>

#include "derive/replay/plan.h"

namespace stepscope::derive {

/// What is different from the recording. A factor of 0 removes, 1 keeps.
struct Changes {
  struct Host {
    trace::Row row;  ///< a host range: all the host time in it, on its thread, is scaled
    double factor;
  };
  std::vector<Host> host;      ///< where several hold, the smallest factor does
  std::vector<double> device;  ///< by event of the plan; empty: all 1
  std::vector<double> starts;  ///< likewise, of what an event takes to start: fewer events start less often
  double waits = 1;            ///< of the time in calls that wait for device work
};

struct Replayed {
  Column<timeline::Time> start, end;  ///< by event of the plan
  std::vector<timeline::Time> marks;  ///< by mark of the plan
};

/// One pass over the plan's things, in whole ns. A thread's work takes its recorded time × its factor. An
/// event starts when all it depends on is done, plus its latency. A call that waits returns when its event
/// has ended, plus its epilogue; inside host time that is removed it does not wait. A thread that another one
/// released goes on as long after the other stopped as it was recorded.
///
/// Errors: what was waited for and is neither recorded nor inferred; other ranks, whose waits lie inside the
/// recorded length of collectives (see joint_replay.h); work whose length depends on what runs beside it.
/// Replay without changes must give the recorded times: the difference tells how much of the first is
/// missing.
///
/// `pace`: of all host time, besides the changes. Below 1 it takes off what recording cost the host.
Replayed replay(const trace::Rank& rank, const ReplayPlan& plan, const Changes& changes, double pace = 1);

}  // namespace stepscope::derive
