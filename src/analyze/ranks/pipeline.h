// Of the stages of a pipeline: what of each step is bubble, beside what filling and draining must take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/derived.h"

namespace stepscope::analyze {

/// What a step of a stage is made of, ns; length = compute + other + bubble, bubble = waiting + idle.
struct StageTimes {
  std::int64_t length, compute;
  std::int64_t other;    ///< copies and collectives that are no sends or receives
  std::int64_t bubble;   ///< the rest
  std::int64_t waiting;  ///< of the bubble: only sends and receives run
  std::int64_t idle;     ///< of the bubble: nothing runs
  double bubble_share;   ///< of the length
  double ideal_share;    ///< of the length: what filling and draining takes
  std::int64_t excess;   ///< bubble beyond the ideal one
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

struct Pipeline {
  std::vector<PipelineStage> stages;  ///< of ranks with whole steps in which micro-batches passed
  std::vector<StageStep> steps;
  std::vector<std::string> notes;
};
Pipeline pipeline_of(const Derived& derived);

}  // namespace stepscope::analyze
