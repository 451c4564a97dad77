// What was read of each file, and what could not be used.
#pragma once

#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::advise {

struct Validation {
  report::Report report;
  bool fine;  ///< every file was read to its end, without loss and without contradictions
};

/// `in_notes`: damaged stretches are notes, as a table in text would cut their reasons short.
Validation validation(const trace::Trace& trace, bool in_notes);

}  // namespace stepscope::advise
