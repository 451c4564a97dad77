// Which ranks are the stages of a pipeline, and how many micro-batches pass through it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "derive/ranks/collective_match.h"

namespace stepscope::derive {

/// What passes through a stage in one step.
struct Passes {
  std::int64_t micro_batches = 0;
  std::int64_t chunks = 1;  ///< of the model that each stage holds: the times a micro-batch comes by
};

/// A rank's place in a pipeline.
struct Stage {
  std::int32_t pipeline = -1;             ///< -1: it is in none
  std::int32_t number = -1;               ///< from 0
  std::int64_t stages = 0;                ///< of the pipeline, of which not all need be recorded
  std::map<std::int64_t, Passes> passes;  ///< by number of the profiler step
};

/// Of each rank.
///
/// Of two ranks that exchange messages the first one to end in a step goes forward: gradients come back only
/// after activations went out. Ranks that form a chain by these are a pipeline. A chain may end where it
/// begins, if one rank alone sends before it receives: its stages then hold several chunks of the model. With
/// p stages, m micro-batches and v chunks, m·v messages go forward from a stage to the next and m·(v-1) from
/// the last to the first. Where tensors of several sizes go along, the largest are counted. Only what lies in
/// profiler steps is looked at.
std::vector<Stage> stages_of(const Collectives& collectives);

/// Share of a step that filling and draining takes when nothing else is lost: (p-1)/(v·m+p-1). Narayanan et
/// al. 2021, "Efficient Large-Scale Language Model Training on GPU Clusters".
double ideal_bubble(std::int64_t stages, const Passes& passes);

}  // namespace stepscope::derive
