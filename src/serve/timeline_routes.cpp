#include "serve/timeline_routes.h"

namespace stepscope::serve {

std::span<const RunRoute> timeline_routes() { return {}; }

}  // namespace stepscope::serve
