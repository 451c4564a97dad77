// Finds the ranks that are stages of a pipeline, and the micro-batches that pass through it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "derive/ranks/collective_match.h"

namespace stepscope::derive {

/// The micro-batches that pass through one stage in one step.
struct Passes {
  std::int64_t micro_batches = 0;
  std::int64_t chunks = 1;  ///< model chunks per stage: how often a micro-batch passes through it
};

/// A rank's place in a pipeline.
struct Stage {
  std::int32_t pipeline = -1;             ///< -1: not in a pipeline
  std::int32_t number = -1;               ///< stage number from 0; -1: none
  std::int64_t stages = 0;                ///< stages of the pipeline, recorded or not
  std::map<std::int64_t, Passes> passes;  ///< by number of the profiler step
};

/// The stage of each rank.
///
/// If two ranks exchange messages, the direction of the first message to end in a step is forward: gradients
/// come back only after activations went out. Ranks that form a chain in this direction are a pipeline. A
/// chain may close to a ring if only one rank sends before it receives: its stages then hold several chunks
/// of the model. With p stages, m micro-batches and v chunks, m·v messages go forward from each stage to the
/// next and m·(v-1) from the last stage to the first. If messages have several sizes, only the largest are
/// counted. Only messages in profiler steps count.
std::vector<Stage> stages_of(const Collectives& collectives);

/// Share of a step lost to filling and draining if nothing else is lost: (p-1)/(v·m+p-1). Narayanan et al.
/// 2021, "Efficient Large-Scale Language Model Training on GPU Clusters".
double ideal_bubble(std::int64_t stages, const Passes& passes);

/// By how much a step is shorter if the stages share their work evenly, ns. `work`: of each stage in a step.
///
/// A step of a pipeline takes the passes of the slowest stage and one pass of each other stage: with c_i the
/// work of stage i per pass and n = v·m passes, (n-1)·max c + sum c. Even stages have the same sum, and the
/// mean as max.
timeline::Time uneven_cost(std::span<const timeline::Time> work, const Passes& passes);

}  // namespace stepscope::derive
