// The training loop's body: what one step does, in order.
#pragma once

#include "make_trace/model/program.h"
#include "make_trace/options.h"

namespace stepscope::make_trace {

/// The step of the job that `options` (already repaired) describe.
Programs programs_of(const Options& options);

}  // namespace stepscope::make_trace
