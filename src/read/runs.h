// Which of several recordings of one job, in the same folder, is read.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "trace/trace.h"

namespace stepscope::read {

/// Leaves in the trace one run of the job: the recordings of its ranks from one time. A rank that was
/// recorded several times shows that there are several; its n-th recording is of the n-th run, unless two of
/// them overlap in time. A rank with fewer recordings belongs to the runs that begin nearest to them. Files
/// that repeat another one, and further files of a rank in the same run, are left out, too. Notes name what
/// was left out.
///
/// `wanted`: the number of a run, 1 for the oldest; 0 for the newest of those with most ranks. An Error if
/// there is no such run.
std::optional<Error> choose_run(trace::Trace& trace, std::int64_t wanted);

}  // namespace stepscope::read
