// Data loader workers that are late: whether more of them would help.
#pragma once

#include <cstdint>
#include <string>

#include "advise/evidence.h"

namespace stepscope::advise {

/// The workers compute on nearly all cores there are: more of them would only share these.
bool cores_are_used_up(const Evidence& e);

/// The workers fetch for kBusyWorkers of their time: they cannot fetch much ahead, and more would.
bool more_workers_help(const Evidence& e);

/// ns in which a worker loads a batch, if that is less than half of `wait`, ns until the program has it:
/// handing batches over takes the rest. 0: it is not, or the workers are not recorded.
std::int64_t load_of_a_batch(const Evidence& e, std::int64_t wait);

/// What to do about late workers, as a remedy. `files_are_fast`: file I/O is recorded and is not what they
/// wait for.
std::string for_late_workers(const Evidence& e, bool files_are_fast);

}  // namespace stepscope::advise
