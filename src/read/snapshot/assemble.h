// From what a snapshot file held to a Snapshot, and where it contradicts itself.
#pragma once

#include "read/snapshot/machine.h"
#include "trace/snapshot.h"

namespace stepscope::read {

/// False if the machine's root is no snapshot. Takes the machine's rows.
bool assemble(Machine& machine, trace::Snapshot& snapshot);

}  // namespace stepscope::read
