// The invariants of a Trace and of every analysis' answer to it. They hold for any input.
#pragma once

#include "advise/analyses.h"
#include "analyze/derived.h"
#include "base/check.h"
#include "compare/diff.h"
#include "compare/step_difference.h"
#include "support/dump.h"

namespace stepscope::test {

inline void check_rows(const trace::Trace& trace, const trace::Rank& rank) {
  const trace::EventTable& e = rank.events;
  for (const trace::Track& track : rank.tracks) {
    CHECK(track.begin <= track.end && track.end <= e.size());
    for (trace::Row row = track.begin; row + 1 < track.end; ++row) {
      CHECK(e.start[row] <= e.start[row + 1]);
      CHECK(e.start[row] < e.start[row + 1] || e.end[row] >= e.end[row + 1]);
    }
  }
  const auto row_or_none = [&](trace::Row row) { return row == trace::kNoRow || row < e.size(); };
  for (trace::Row row = 0; row < e.size(); ++row) {
    CHECK(e.start[row] <= e.end[row]);
    CHECK(e.name[row] < trace.strings.size() && e.category[row] < trace.strings.size());
    CHECK(e.track[row] < rank.tracks.size());
    CHECK(rank.tracks[e.track[row]].begin <= row && row < rank.tracks[e.track[row]].end);
    CHECK(e.schema[row] < trace.schemas.size());
    CHECK(e.args_at[row] + trace.schemas.words(e.schema[row]) <= rank.values.size());
    CHECK(row_or_none(e.parent[row]) && row_or_none(e.launch[row]) && row_or_none(e.op[row]));
    CHECK(e.parent[row] == trace::kNoRow || e.parent[row] < row);
    CHECK(e.step[row] >= -1 && e.step[row] < static_cast<std::int32_t>(rank.steps.size()));
    dump_row(trace, rank, row);
  }
}

inline void check_flows(const trace::Trace& trace, const trace::Rank& rank) {
  for (trace::Row i = 0; i < rank.flows.size(); ++i) {
    CHECK(rank.flows.track[i] < rank.tracks.size());
    CHECK(rank.flows.category[i] < trace.strings.size());
  }
}

inline void check_report(const report::Report& report) {
  for (const report::Table& table : report.tables)
    for (const report::Column& column : table.columns) CHECK(column.size() == table.rows());
}

inline void check_trace(const trace::Trace& trace) {
  const trace::Rank& rank = trace.ranks.at(0);
  CHECK(rank.events.size() > 0 || rank.reading.unmatched_ends > 0);
  CHECK(rank.reading.first_losses.size() <= 16);
  CHECK(rank.reading.lost_bytes <= rank.reading.text_bytes);
  check_rows(trace, rank);
  check_flows(trace, rank);
}

/// Every answer in full, one table cell after the other, without columns that name an event by its position
/// in the file.
inline std::string dump_answers(const trace::Trace& trace) {
  std::string out;
  for (const analyze::Analysis& analysis : advise::all_analyses()) {
    for (const analyze::Form& form : analysis.forms)  // in file order: not in `out`
      check_report(analyze::run(analysis, form, analyze::Derived(trace, {}), {}));
    const report::Report report = analyze::run(analysis, trace, {});
    for (const report::Table& table : report.tables) {
      for (const report::Column& column : table.columns) {
        if (column.name == "event" || column.name == "first_event") continue;
        out += fmt::format("{} / {} / {}:", report.name, table.title, column.name);
        for (std::size_t row = 0; row < column.size(); ++row)
          std::visit([&](const auto& values) { out += fmt::format(" {}", values[row]); }, column.values);
        out += '\n';
      }
    }
    for (const std::string& note : report.notes) out += note + '\n';
  }
  return out;
}

/// Compares a trace with itself: rows add up to the step, none changed.
inline void check_difference(const trace::Trace& trace) {
  compare::Pair pair = compare::recordings_of(trace, trace, {});
  const compare::StepDifference difference = compare::diff(trace, trace, pair);
  check_report(compare::as_report(difference));
  double sum = 0;
  for (const compare::Row& row : difference.rows) {
    CHECK(row.change() == 0);
    sum += row.time.a;
  }
  CHECK(std::abs(sum - difference.step.means.mean_a) <= 1 + 1e-9 * difference.step.means.mean_a);
}

/// Checks that every analysis answers with columns of equal lengths.
inline void check_analyses(const trace::Trace& trace) {
  for (const analyze::Analysis& analysis : advise::all_analyses())
    check_report(analyze::run(analysis, trace, {}));
  check_difference(trace);
}

}  // namespace stepscope::test
