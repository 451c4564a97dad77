// What was read of each file, and what could not be used.
#pragma once

#include <vector>

#include "report/table.h"
#include "trace/breaches.h"
#include "trace/trace.h"

namespace stepscope::advise {

struct Validation {
  report::Report report;
  bool fine;    ///< every file was read to its end, without loss and without contradictions
  bool strict;  ///< and other readers accept the text of all
};

/// `breached`: those of the files that are no strict JSON. `in_notes`: damaged stretches are notes, as a
/// table in text would cut their reasons short.
Validation validation(const trace::Trace& trace, const std::vector<trace::BreachedFile>& breached,
                      bool in_notes);

}  // namespace stepscope::advise
