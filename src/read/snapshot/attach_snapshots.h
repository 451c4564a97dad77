// Memory snapshots beside other recordings of the same run.
#pragma once

#include "trace/trace.h"

namespace stepscope::read {

/// A snapshot that was opened with other recordings becomes part of the rank that its file's name names; of
/// the only other one, if it names none. Snapshots alone stay ranks. Adds to the trace's companions and
/// notes.
void attach_snapshots(trace::Trace& trace);

}  // namespace stepscope::read
