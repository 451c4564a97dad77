// Hardware counters of profiled ranges, beside the kernel and the operators they belong to.
#include <algorithm>
#include <set>

#include "analyze/derived.h"
#include "analyze/list.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Shape;
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

}  // namespace

constinit const About cupti_counters_about = {{}, false};

report::Report cupti_counters(const Derived& derived, const report::Params&) {
  const trace::Trace& trace = derived.trace();
  report::Report report{"cupti_counters", {}, {}};
  report::Table& table = report.tables.emplace_back(report::Table{"Counters", Shape::table, {}});
  RankColumn rank_column(table, trace);
  auto& range = table.ints("range", Unit::none, Role::key);
  auto& kernel = table.texts("kernel", Role::value);
  auto& top = table.texts("top_op", Role::value);
  auto& bottom = table.texts("bottom_op", Role::value);
  auto& ops_column = table.texts("ops", Role::detail);
  auto& counter = table.texts("counter");
  auto& value = table.reals("value", Unit::none);
  for (const Rank& rank : trace.ranks) {
    const std::vector<Row> ranges = ranges_of(rank), launches = launches_of(trace, rank);
    if (ranges.empty()) continue;
    if (ranges.size() != launches.size()) {
      report.notes.push_back("Counters cannot be given to operators: there are " +
                             std::to_string(ranges.size()) + " profiled ranges and " +
                             std::to_string(launches.size()) + " launches.");
      continue;
    }
    for (const std::string_view name : counters_of(trace, rank, ranges)) {
      const trace::ArgReader arg(trace, rank, name);
      for (std::size_t i = 0; i < ranges.size(); ++i) {
        const std::vector<Row> ops = ops_around(rank, launches[i]);
        rank_column.add(rank);
        range.push_back(static_cast<std::int64_t>(i));
        kernel.emplace_back(trace.name(rank, ranges[i]));
        top.emplace_back(ops.empty() ? "" : trace.name(rank, ops.front()));
        bottom.emplace_back(ops.empty() ? "" : trace.name(rank, ops.back()));
        std::string& all = ops_column.emplace_back();
        for (const Row op : ops) (all += all.empty() ? "" : " > ") += trace.name(rank, op);
        counter.emplace_back(name);
        value.push_back(arg.real(ranges[i]).value_or(report::kNoReal));
      }
    }
  }
  if (table.rows() == 0 && report.notes.empty())
    report.notes.emplace_back("No counters: CUPTI's range profiler records them (experimental_config).");
  return report;
}

}  // namespace stepscope::analyze
