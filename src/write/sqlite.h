// A Trace and its reports as tables of SQLite, in a file or in memory, and read-only questions to them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/table.h"
#include "trace/trace.h"

struct sqlite3;

namespace stepscope::write {

class RowSink;

struct AskLimits {
  std::size_t rows = 0;               ///< kept of the answer; 0 keeps all
  std::chrono::milliseconds time{0};  ///< 0 waits for ever
};

struct Answer {
  report::Table table;
  std::size_t rows = 0;  ///< of the answer, as far as they were counted
  bool all_counted = true;
};

class Database {
 public:
  static Result<Database> in_memory();
  /// A new file beside `path`, which finish() puts in the place of the one that is there.
  static Result<Database> create(const std::string& path);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// Called now and then while filling and asking.
  void on_progress(std::function<void()> tell);

  /// One of trace_tables(), filled from `trace`. Trouble (a full disk) is returned.
  std::optional<Error> add(std::string_view table, const trace::Trace& trace);
  /// Each table of the report under table_name().
  std::optional<Error> add(const report::Report& report);

  /// Of a file: gives it its name, once, at the end; without it nothing takes the name. What went wrong, if
  /// anything.
  std::optional<Error> finish();

  /// One SELECT. Anything that would write, attach or load is refused. Columns that end in _ns or _bytes get
  /// their unit. Rows behind the limit are counted up to a million.
  Result<Answer> ask(const std::string& query, const AskLimits& limits = {});

 private:
  explicit Database(sqlite3* handle);
  /// Makes a table and has `put` fill it.
  std::optional<Error> fill(std::string_view table, const std::vector<std::string>& columns,
                            const std::function<void(RowSink&)>& put);
  struct State;
  std::unique_ptr<State> state_;
};

struct ColumnNote {
  std::string_view name, type, meaning;
};

struct TraceTable {
  std::string_view name;
  std::string_view one_line;
  std::span<const ColumnNote> columns;
};

/// event, arg, track, rank, step, device, flow.
std::span<const TraceTable> trace_tables();

/// "steps" for the first table of the report `steps`, "steps_average_step" for its table "Average step".
std::string table_name(const report::Report& report, std::size_t index);

/// The name that `rank` has in every table: its number, or its place in the trace when the file does not say.
std::int64_t rank_name(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::write
