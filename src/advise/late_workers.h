// Data loader workers that are late: whether more of them would help.
#pragma once

#include <string>

#include "advise/evidence.h"

namespace stepscope::advise {

/// The workers compute on nearly all cores there are: more of them would only share these.
bool cores_are_used_up(const Evidence& e);

/// What to do about late workers, as a remedy.
std::string for_late_workers(const Evidence& e);

}  // namespace stepscope::advise
