// The rows of each trace table, handed to a sink value by value. SQLite and CSV are filled from the same
// place.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/trace.h"

namespace stepscope::write {

/// Takes the values of a row from left to right, then `end_row`. Texts must be used before the call returns.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void integer(std::int64_t value) = 0;
  virtual void real(double value) = 0;
  virtual void text(std::string_view value) = 0;
  virtual void nothing() = 0;
  /// False ends the table early.
  virtual bool end_row() = 0;
};

/// The rows of the trace table `name`, columns as in trace_tables().
void put_rows(std::string_view name, const trace::Trace& trace, RowSink& sink);

}  // namespace stepscope::write
