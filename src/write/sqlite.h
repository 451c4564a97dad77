// A Trace and its reports as tables of SQLite, in a file or in memory, and read-only questions to them.
#pragma once

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

class Database {
 public:
  static Result<Database> in_memory();
  /// A new file; one that is there is replaced.
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

  /// One SELECT. Anything that would write, attach or load is refused. Columns that end in _ns or _bytes get
  /// their unit.
  Result<report::Table> ask(const std::string& query);

 private:
  explicit Database(sqlite3* handle);
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
