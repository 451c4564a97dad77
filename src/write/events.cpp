#include "write/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "report/formats/csv.h"
#include "report/formats/json.h"
#include "write/output.h"
#include "write/sqlite.h"
#include "write/trace_rows.h"

namespace stepscope::write {
namespace {

constexpr std::size_t kRowsAtOnce = 16384;
constexpr std::string_view kEvents = "event", kAllocatorEvents = "allocator_event";

const TraceTable& table_of(std::string_view name) {
  return *std::ranges::find(trace_tables(), name, &TraceTable::name);
}

report::Table empty_table(const TraceTable& of, bool args) {
  report::Table table{of.name == kEvents ? "Events" : std::string(of.name), report::Shape::table, {}};
  for (const ColumnNote& c : of.columns) {
    const bool time = c.name.ends_with("_ns"), bytes = c.name.ends_with("_bytes"), depth = c.name == "depth";
    if (c.type == "INTEGER")
      table.ints(std::string(c.name), time    ? report::Unit::ns
                                      : bytes ? report::Unit::bytes
                                      : depth ? report::Unit::count
                                              : report::Unit::none);
    else
      table.texts(std::string(c.name), report::Role::value);
  }
  if (args) table.texts("args", report::Role::detail);
  return table;
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

/// The args of a row as one JSON object; "" if there are none.
std::string args_of(const trace::Trace& trace, const trace::Rank& rank, trace::Row row) {
  std::string out;
  trace::for_each_arg(trace, rank, row, [&](const trace::ArgField& field, std::int64_t value) {
    out += (out.empty() ? "{" : ",") + json_text(trace.text(field.key)) + ":";
    switch (field.type) {
      case trace::ArgType::integer:
        out += std::to_string(value);
        break;
      case trace::ArgType::real:
        out += number(trace::as_real(value));
        break;
      case trace::ArgType::text:
        out += json_text(trace.text(static_cast<trace::StringId>(value)));
        break;
      case trace::ArgType::raw:
        out += trace.text(static_cast<trace::StringId>(value));
        break;
    }
  });
  return out.empty() ? out : out + "}";
}

/// Fills a table with rows of a trace table.
class TableRows : public RowSink {
 public:
  TableRows(const TraceTable& of, bool args) : of_(of), args_(args), table_(empty_table(of, args)) {}
  std::size_t rows() const { return table_.rows(); }
  report::Table take() { return std::exchange(table_, empty_table(of_, args_)); }

  void integer(std::int64_t value) override {
    report::Column& column = next();
    if (is_text(column))
      std::get<report::Texts>(column.values).push_back(std::to_string(value));
    else
      std::get<report::Ints>(column.values).push_back(value);
  }
  void real(double value) override { std::get<report::Texts>(next().values).push_back(number(value)); }
  void text(std::string_view value) override { std::get<report::Texts>(next().values).emplace_back(value); }
  void nothing() override {
    report::Column& column = next();
    if (is_text(column))
      std::get<report::Texts>(column.values).emplace_back();
    else
      std::get<report::Ints>(column.values).push_back(report::kNoInt);
  }
  bool end_row() override {
    at_ = 0;
    return true;
  }

 protected:
  report::Column& next() { return table_.columns[at_++]; }
  bool has_args() const { return args_; }

 private:
  const TraceTable& of_;
  bool args_;
  report::Table table_;
  std::size_t at_ = 0;
};

class EventRows final : public TableRows {
 public:
  explicit EventRows(bool args) : TableRows(table_of(kEvents), args) {}
  void add(const trace::Trace& trace, const trace::Rank& rank, trace::Row row) {
    put_event(trace, rank, row, *this);
    if (has_args()) std::get<report::Texts>(next().values).push_back(args_of(trace, rank, row));
    end_row();
  }
};

using TakePiece = std::function<bool(const report::Table&)>;

/// Passes the rows of a trace table in pieces.
class Pieces final : public TableRows {
 public:
  Pieces(const TraceTable& of, const TakePiece& take) : TableRows(of, false), take_(take) {}
  bool end_row() override {
    TableRows::end_row();
    return rows() < kRowsAtOnce || give();
  }
  bool give() {
    given_ = true;
    return take_(take());
  }
  bool given() const { return given_; }

 private:
  const TakePiece& take_;
  bool given_ = false;
};

/// Writes the pieces that `put` passes.
std::optional<Error> export_pieces(const std::string& name, const std::string& path, bool json,
                                   const std::function<void(const TakePiece&)>& put) {
  auto output = Output::open(path);
  if (!output) return output.error();
  bool first = true;
  put([&](const report::Table& piece) {
    std::string text;
    if (first) text = json ? report::json_head(name, piece) : report::csv_head(piece);
    text += json ? report::json_rows(piece, first) : report::csv_rows(piece);
    first = false;
    return output->write(text);
  });
  if (json) output->write(report::json_tail());
  return output->finish();
}

/// Whether a rank's events are chosen. Looks each distinct name up once.
class Chosen {
 public:
  Chosen(const trace::Trace& trace, const EventChoice& choice) : choice_(choice) {
    if (choice.name.empty()) return;
    for (trace::StringId id = 0; id < trace.strings.size(); ++id)
      named_.push_back(trace.text(id).find(choice.name) != std::string_view::npos);
  }
  bool operator()(const trace::Rank& rank, trace::Row row) const {
    const trace::EventTable& e = rank.events;
    if (choice_.kinds && std::ranges::find(*choice_.kinds, e.kind[row]) == choice_.kinds->end()) return false;
    if (choice_.steps) {
      if (e.step[row] < 0) return false;
      const std::int64_t step = rank.steps[static_cast<std::size_t>(e.step[row])].number;
      if (step < choice_.steps->first || step > choice_.steps->second) return false;
    }
    return choice_.name.empty() || named_[e.name[row]];
  }

 private:
  const EventChoice& choice_;
  std::vector<bool> named_;
};

}  // namespace

void events(const trace::Trace& trace, const std::function<bool(const report::Table&)>& take) {
  EventRows rows(true);
  bool given = false;
  for (const trace::Rank& rank : trace.ranks)
    for (trace::Row row = 0; row < rank.events.size(); ++row) {
      rows.add(trace, rank, row);
      if (rows.rows() < kRowsAtOnce) continue;
      if (!take(rows.take())) return;
      given = true;
    }
  if (rows.rows() > 0 || !given) take(rows.take());
}

report::Table events(const trace::Trace& trace, const EventChoice& choice) {
  EventRows rows(choice.args);
  const Chosen chosen(trace, choice);
  for (const trace::Rank& rank : trace.ranks) {
    if (choice.ranks && std::ranges::find(*choice.ranks, rank_name(trace, rank)) == choice.ranks->end())
      continue;
    for (trace::Row row = 0; row < rank.events.size(); ++row)
      if (chosen(rank, row)) rows.add(trace, rank, row);
  }
  return rows.take();
}

std::optional<Error> export_table(const trace::Trace& trace, const TraceTable& table, const std::string& path,
                                  bool json) {
  return export_pieces(std::string(table.name), path, json, [&](const TakePiece& take) {
    Pieces pieces(table, take);
    put_rows(table.name, trace, pieces);
    if (pieces.rows() > 0 || !pieces.given()) pieces.give();
  });
}

std::optional<Error> export_events(const trace::Trace& trace, const std::string& path, bool json) {
  if (trace.snapshots_alone()) return export_table(trace, table_of(kAllocatorEvents), path, json);
  return export_pieces("events", path, json, [&](const TakePiece& take) { events(trace, take); });
}

}  // namespace stepscope::write
