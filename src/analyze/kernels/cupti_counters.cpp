// Hardware counters of profiled ranges, with the kernel and the operators that they belong to.
#include <algorithm>
#include <set>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "report/sheet.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Tag;
using report::Unit;
using trace::Kind;
using trace::Rank;
using trace::Row;

std::vector<Row> by_start(const Rank& rank, std::vector<Row> rows) {
  const auto& e = rank.events;
  std::stable_sort(rows.begin(), rows.end(), [&](Row a, Row b) { return e.start[a] < e.start[b]; });
  return rows;
}

std::vector<Row> launches_of(const trace::Trace& trace, const Rank& rank) {
  std::vector<Row> rows;
  for (const Row row : rank.host_rows())
    if (rank.events.kind[row] == Kind::runtime && trace.name(rank, row).starts_with("cudaLaunchKernel"))
      rows.push_back(row);
  return by_start(rank, std::move(rows));
}

std::vector<Row> ranges_of(const Rank& rank) {
  std::vector<Row> rows;
  for (Row row = 0; row < rank.events.size(); ++row)
    if (rank.events.kind[row] == Kind::range_metrics) rows.push_back(row);
  return by_start(rank, std::move(rows));
}

/// The operators around a call, outermost first.
std::vector<Row> ops_around(const Rank& rank, Row call) {
  std::vector<Row> ops;
  for (Row row = rank.events.parent[call]; row != trace::kNoRow; row = rank.events.parent[row])
    if (rank.events.kind[row] == Kind::op) ops.push_back(row);
  std::reverse(ops.begin(), ops.end());
  return ops;
}

std::set<std::string_view> counters_of(const trace::Trace& trace, const Rank& rank,
                                       const std::vector<Row>& ranges) {
  std::set<std::string_view> names;
  for (const Row row : ranges)
    for (const trace::ArgField& field : trace.schemas.fields(rank.events.schema[row]))
      names.insert(trace.text(field.key));
  return names;
}

/// One counter of one profiled range, and the operators around its launch, outermost first.
struct RangeCounter {
  std::int64_t rank, range;
  std::string_view kernel, top_op, bottom_op;
  std::string ops;
  std::string_view name;
  double value;
};

void add_rank(std::vector<RangeCounter>& counters, std::vector<std::string>& notes, const trace::Trace& trace,
              const Rank& rank) {
  const std::vector<Row> ranges = ranges_of(rank), launches = launches_of(trace, rank);
  if (ranges.empty()) return;
  if (ranges.size() != launches.size()) {
    notes.push_back("Counters cannot be assigned to operators: there are " + std::to_string(ranges.size()) +
                    " profiled ranges but " + std::to_string(launches.size()) + " launches.");
    return;
  }
  for (const std::string_view name : counters_of(trace, rank, ranges)) {
    const trace::ArgReader arg(trace, rank, name);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const std::vector<Row> ops = ops_around(rank, launches[i]);
      std::string all;
      for (const Row op : ops) (all += all.empty() ? "" : " > ") += trace.name(rank, op);
      counters.push_back({rank.rank, static_cast<std::int64_t>(i), trace.name(rank, ranges[i]),
                          ops.empty() ? "" : trace.name(rank, ops.front()),
                          ops.empty() ? "" : trace.name(rank, ops.back()), std::move(all), name,
                          arg.real(ranges[i]).value_or(report::kNoReal)});
    }
  }
}

const report::Sheet<RangeCounter> kCounterSheet{"Counters",
                                                report::Shape::table,
                                                {report::rank_field<RangeCounter>(&RangeCounter::rank),
                                                 {"range", &RangeCounter::range, Unit::none, Tag::of_one_run},
                                                 {"kernel", &RangeCounter::kernel, Role::value},
                                                 {"top_op", &RangeCounter::top_op, Role::value},
                                                 {"bottom_op", &RangeCounter::bottom_op, Role::value},
                                                 {"ops", &RangeCounter::ops, Role::detail},
                                                 {"counter", &RangeCounter::name},
                                                 {"value", &RangeCounter::value, Unit::none}}};

}  // namespace

constinit const About cupti_counters_about = {{}, false};

report::Report cupti_counters(const Derived& derived, const report::Params&) {
  const trace::Trace& trace = derived.trace();
  std::vector<RangeCounter> counters;
  std::vector<std::string> notes;
  for (const Rank& rank : trace.ranks) add_rank(counters, notes, trace, rank);
  if (counters.empty() && notes.empty())
    notes.emplace_back("No counters are recorded: turn on CUPTI's range profiler (experimental_config).");
  return {"cupti_counters", {tabulate(kCounterSheet, counters, trace.several())}, std::move(notes)};
}

}  // namespace stepscope::analyze
