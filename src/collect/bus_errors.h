// Another program may cut a recording's file off, or its disk may fail. An access to its memory then raises
// SIGBUS, which must not end the program.
#pragma once

#include <atomic>

#include "collect/recorder.h"

namespace stepscope::collect {

/// From now on, a page of a recording that cannot be accessed is replaced by an empty one; what would have
/// been written there is lost. Other bus errors go to the handler that was there before. `newest`: of all
/// recordings; must outlive the program. To be called once.
void survive_bus_errors(const std::atomic<Recorder*>& newest);

}  // namespace stepscope::collect
