// Pieces of evidence by the analysis that shows them: see::idle("by cause").
#pragma once

#include <string>
#include <utility>

#include "analyze/list.h"
#include "report/verdict.h"

namespace stepscope::advise::see {

#define STEPSCOPE_SEE(topic, name, one_line) \
  inline report::Proof name(std::string what) { return {#name, std::move(what)}; }
STEPSCOPE_ANALYSES(STEPSCOPE_SEE)
#undef STEPSCOPE_SEE

}  // namespace stepscope::advise::see
