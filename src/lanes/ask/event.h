// Everything about one event, as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "lanes/ask/links.h"
#include "lanes/run.h"

namespace stepscope::lanes {

Result<std::string> event_json(const Run& run, const Links& links, std::int64_t rank, std::int64_t id);

}  // namespace stepscope::lanes
