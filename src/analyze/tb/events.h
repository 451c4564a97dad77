// A rank's events as the plugin sees them: which events it keeps, and their types, order and times.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "analyze/question.h"
#include "analyze/tb/names.h"
#include "report/statistics.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::analyze::tb {

using report::add_to;
using trace::Row;

enum class Type : std::uint8_t {
  none,
  op,
  runtime,
  kernel,
  memcpy,
  memset,
  python,
  module,
  annotation,
  step
};

constexpr bool is_device(Type type) {
  return type == Type::kernel || type == Type::memcpy || type == Type::memset;
}

/// The value of an absent id. It equals other absent ids: the plugin compares None with None.
inline constexpr std::int64_t kNoId = std::numeric_limits<std::int64_t>::min();

/// 0 if `whole` is 0, as in the plugin.
inline double ratio(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

class Events {
 public:
  Events(const trace::Trace& trace, const trace::Rank& rank);

  const trace::Trace& trace;
  const trace::Rank& rank;
  NameFacts names;
  std::vector<Type> type;             ///< by row; none for events that the plugin drops or ignores
  std::vector<Row> order;             ///< kept rows by start, then by position in the file
  std::vector<std::uint32_t> thread;  ///< by track: equal for equal tids, even in different processes

  bool is(Row row, int facts) const { return names.is(rank.events.name[row], facts); }
  std::string_view name(Row row) const { return trace.name(rank, row); }
  std::uint32_t thread_of(Row row) const { return thread[rank.events.track[row]]; }

  /// Microseconds, as doubles.
  double start_us(Row row) const;
  double end_us(Row row) const;
  /// Converts µs to ns since the first kept event.
  std::int64_t ns(double us) const;
  timeline::Interval span(Row row) const { return {ns(start_us(row)), ns(end_us(row))}; }

 private:
  void classify();
  void put_in_order();
  void number_threads();

  double origin_us_ = 0;
};

/// External id and correlation, kNoId when absent.
class Ids {
 public:
  explicit Ids(const Events& events)
      : old_external_(events.trace, events.rank, "external id"),
        external_(events.trace, events.rank, "External id"),
        correlation_(events.trace, events.rank, "correlation") {}
  std::int64_t external(Row row) const {
    if (const auto id = old_external_.integer(row)) return *id;
    return external_.integer_or(row, kNoId);
  }
  std::int64_t correlation(Row row) const { return correlation_.integer_or(row, kNoId); }

 private:
  trace::ArgReader old_external_, external_, correlation_;
};

}  // namespace stepscope::analyze::tb
