// What the commands answer with --format json, byte for byte.
#pragma once

#include <memory>
#include <string>

#include "serve/asked.h"

namespace stepscope::serve {

Response answer_report(Asked& asked);
Response answer_show(Asked& asked);
Response answer_explain(Asked& asked);
Response answer_diff(Asked& asked);

/// The report of the analysis that the first word names, with the params of the query.
std::shared_ptr<const Reports> shown(Asked& asked);

}  // namespace stepscope::serve
