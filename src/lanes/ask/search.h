// Searches the events of a run.
#pragma once

#include <string>

#include "base/result.h"
#include "lanes/run.h"
#include "lanes/timeline.h"

namespace stepscope::lanes {

Result<std::string> search_json(const Run& run, const Query& query);

}  // namespace stepscope::lanes
