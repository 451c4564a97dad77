// A pipeline: each rank holds one stage of the model and works on micro-batches from the previous stage.
#pragma once

#include <vector>

#include "make_trace/model/program.h"
#include "make_trace/options.h"

namespace stepscope::make_trace {

/// Micro-batches per stage at which filling and draining cost little.
constexpr int kManyPerStage = 8;

/// The rank's step: forward and backward passes alternate, with as many forward passes ahead as there are
/// later stages (1F1B), then the optimizer.
Program pipeline_step(const Options& options, int rank);

/// Process groups of the rank: all ranks, its pipeline, ranks with the same stage in other pipelines.
std::vector<Group> groups_of(const Options& options, int rank);

}  // namespace stepscope::make_trace
