// The rows of each trace table, passed to a sink value by value. Both SQLite and CSV are filled from here.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/trace.h"

namespace stepscope::write {

/// Receives the values of a row from left to right, then end_row(). A text is valid only during the call.
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

/// "" is nothing.
void put_text_or_nothing(RowSink& sink, std::string_view text);
void put_if(RowSink& sink, bool known, std::int64_t value);

/// Passes the values of one row of the trace table `event`, without end_row().
void put_event(const trace::Trace& trace, const trace::Rank& rank, trace::Row row, RowSink& sink);

/// Passes all rows of the trace table `name` to `sink`; columns as in trace_tables().
void put_rows(std::string_view name, const trace::Trace& trace, RowSink& sink);

}  // namespace stepscope::write
