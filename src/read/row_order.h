// The order of rows that start together: by content, never by position in the file.
#pragma once

#include "trace/trace.h"

namespace stepscope::read {

/// Where an event's args are stored.
struct ArgsAt {
  trace::SchemaId schema;
  std::uint32_t at;  ///< first value in Rank::values
};

/// Orders args by keys, then types, then values; strings by their text.
bool args_before(const trace::Trace& trace, const trace::Rank& rank, ArgsAt a, ArgsAt b);

/// Rows of one track by start, longest first, outer kinds first, then by creation and content.
class RowOrder {
 public:
  RowOrder(const trace::Trace& trace, const trace::Rank& rank);
  bool operator()(trace::Row a, trace::Row b) const;

 private:
  std::int64_t creation(trace::Row row) const;

  const trace::Trace& trace_;
  const trace::Rank& rank_;
  trace::ArgReader external_, old_external_, python_;
};

}  // namespace stepscope::read
