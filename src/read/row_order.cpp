#include "read/row_order.h"

#include <algorithm>

namespace stepscope::read {
namespace {

using trace::EventTable;
using trace::Kind;
using trace::Row;
using trace::StringId;

/// Outer ranges come first if start and end are equal.
std::ptrdiff_t nesting_rank(Kind kind) {
  static constexpr Kind kOutermostFirst[] = {Kind::span,    Kind::annotation, Kind::python, Kind::op,
                                             Kind::runtime, Kind::io_library, Kind::io};
  return std::ranges::find(kOutermostFirst, kind) - std::begin(kOutermostFirst);
}

}  // namespace

bool args_before(const trace::Trace& trace, const trace::Rank& rank, ArgsAt a, ArgsAt b) {
  const auto fields_a = trace.schemas.fields(a.schema), fields_b = trace.schemas.fields(b.schema);
  const auto alike = [](const trace::ArgField& x, const trace::ArgField& y) {
    return x.key == y.key && x.type == y.type;
  };
  if (!std::equal(fields_a.begin(), fields_a.end(), fields_b.begin(), fields_b.end(), alike))
    return std::lexicographical_compare(fields_a.begin(), fields_a.end(), fields_b.begin(), fields_b.end(),
                                        [&](const trace::ArgField& x, const trace::ArgField& y) {
                                          return x.key != y.key ? trace.text(x.key) < trace.text(y.key)
                                                                : x.type < y.type;
                                        });
  for (std::size_t i = 0, at_a = a.at, at_b = b.at; i < fields_a.size(); ++i) {
    const std::int64_t x = rank.values.get(at_a, fields_a[i].wide),
                       y = rank.values.get(at_b, fields_b[i].wide);
    at_a += fields_a[i].words();
    at_b += fields_b[i].words();
    if (x == y) continue;
    if (fields_a[i].type < trace::ArgType::text) return x < y;
    return trace.text(static_cast<StringId>(x)) < trace.text(static_cast<StringId>(y));
  }
  return false;
}

RowOrder::RowOrder(const trace::Trace& trace, const trace::Rank& rank)
    : trace_(trace),
      rank_(rank),
      external_(trace, rank, "External id"),
      old_external_(trace, rank, "external id"),
      python_(trace, rank, "Python id") {}

bool RowOrder::operator()(Row a, Row b) const {
  const EventTable& e = rank_.events;
  if (e.start[a] != e.start[b]) return e.start[a] < e.start[b];
  if (e.end[a] != e.end[b]) return e.end[a] > e.end[b];
  if (e.kind[a] != e.kind[b])
    return std::pair(nesting_rank(e.kind[a]), e.kind[a]) < std::pair(nesting_rank(e.kind[b]), e.kind[b]);
  if (const auto x = creation(a), y = creation(b); x != y) return x < y;
  if (e.name[a] != e.name[b]) return trace_.text(e.name[a]) < trace_.text(e.name[b]);
  if (e.category[a] != e.category[b]) return trace_.text(e.category[a]) < trace_.text(e.category[b]);
  return args_before(trace_, rank_, {e.schema[a], e.args_at[a]}, {e.schema[b], e.args_at[b]});
}

std::int64_t RowOrder::creation(Row row) const {
  if (const auto id = external_.integer(row)) return *id;
  if (const auto id = old_external_.integer(row)) return *id;
  return python_.integer_or(row, 0);
}

}  // namespace stepscope::read
