// What other readers refuse of files that are read here.
#pragma once

#include <string>
#include <vector>

#include "trace/breaches.h"

namespace stepscope::merge {

/// Those of the files that merging would mend. Lines of events, as DFTracer writes them, need no commas.
/// Reads each once more. Execution traces, recordings, which are no JSON, standard input and files that
/// cannot be read are not among them.
std::vector<trace::BreachedFile> breached(std::vector<std::string> files, unsigned threads);

}  // namespace stepscope::merge
