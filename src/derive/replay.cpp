#include "derive/replay.h"

#include "derive/replay_walk.h"

namespace stepscope::derive {

Replayed replay(const trace::Rank& rank, const ReplayPlan& plan, const Changes& changes) {
  ReplayWalk walk(rank, plan, changes);
  walk.run();
  return walk.take();
}

}  // namespace stepscope::derive
