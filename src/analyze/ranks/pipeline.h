// How much of each step of a pipeline stage is bubble, compared with what filling and draining must take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/derived.h"

namespace stepscope::analyze {

/// The parts of a step of one stage, ns. length = compute + other + bubble, bubble = waiting + idle.
struct StageTimes {
  std::int64_t length, compute;
  std::int64_t other;    ///< copies, and collectives except sends and receives
  std::int64_t bubble;   ///< the rest
  std::int64_t waiting;  ///< of the bubble: only sends and receives run
  std::int64_t idle;     ///< of the bubble: nothing runs
  double bubble_share;   ///< bubble / length
  double ideal_share;    ///< share of the length that filling and draining takes
  std::int64_t excess;   ///< bubble minus the ideal bubble
};

/// A rank's stage; times are means over `steps`.
struct PipelineStage : StageTimes {
  std::int64_t rank, pipeline, stage;
  std::int64_t stages;  ///< of the pipeline
  std::int64_t steps;
  std::int64_t micro_batches, chunks;  ///< medians over steps
};

struct StageStep : StageTimes {
  std::int64_t rank, step, stage, micro_batches;
};

/// How evenly the stages of a pipeline share their compute. Times in ns per step.
struct StageBalance {
  std::int64_t pipeline;
  std::int64_t rank, stage;    ///< the heaviest
  std::int64_t stages, known;  ///< of the pipeline; of these, with whole steps in the files
  std::int64_t compute, mean;  ///< of the heaviest stage; of the known stages
  double beyond;               ///< compute / mean - 1
  std::int64_t cost;           ///< by how much a step is shorter with even stages (derive::uneven_cost)
};

struct Pipeline {
  std::vector<PipelineStage> stages;  ///< ranks with whole steps in which micro-batches passed
  std::vector<StageStep> steps;
  std::vector<StageBalance> balance;  ///< by pipeline
  std::vector<std::string> notes;
};
Pipeline pipeline_of(const Derived& derived);

}  // namespace stepscope::analyze
