#include "derive/replay/replay.h"

#include "derive/replay/walk.h"

namespace stepscope::derive {

Replayed replay(const trace::Rank& rank, const ReplayPlan& plan, const Changes& changes, double pace) {
  ReplayWalk walk(rank, plan, changes, pace);
  walk.run();
  return walk.take();
}

}  // namespace stepscope::derive
