// A Trace and its reports as SQLite tables, in a file or in memory, and read-only queries on them.
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
  std::size_t rows = 0;               ///< of the result to keep; 0: all
  std::chrono::milliseconds time{0};  ///< 0: no limit
};

struct Answer {
  report::Table table;
  std::size_t rows = 0;  ///< rows of the result that were counted
  bool all_counted = true;
};

class Database {
 public:
  static Result<Database> in_memory();
  /// Creates a new file beside `path`; finish() renames it to `path`, replacing any existing file.
  static Result<Database> create(const std::string& path);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// Sets a function that is called from time to time while tables are filled or a query runs.
  void on_progress(std::function<void()> tell);

  /// Adds one of trace_tables(), filled from `trace`. Returns an error, such as a full disk.
  std::optional<Error> add(std::string_view table, const trace::Trace& trace);
  /// Adds each table of the report under its table_name().
  std::optional<Error> add(const report::Report& report);

  /// Gives a file its name. Call it once, at the end; without it, the previous file stays. Returns the error,
  /// if any.
  std::optional<Error> finish();

  /// Runs each SELECT of `queries`. Anything that would write, attach or load is refused. Columns that end in
  /// _ns, _bytes or _share get that unit. Rows beyond the limit are counted, up to a million in all. The time
  /// limit is for all of them.
  Result<std::vector<Answer>> ask(const std::string& queries, const AskLimits& limits = {});

 private:
  explicit Database(sqlite3* handle);
  /// Creates a table and fills it with `put`.
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
  std::string_view view{};  ///< of a view: its SELECT, from tables before it; else empty
};

/// event, arg, track, rank, step, device, flow; allocator_event, allocator_stack, allocator_block; and the
/// views kernel and ranks.
std::span<const TraceTable> trace_tables();

/// "steps" for the first table of the report `steps`, "steps_average_step" for its table "Average step".
std::string table_name(const report::Report& report, std::size_t index);

/// The number of `rank` in every table: its rank number, or its index in the trace if the file does not say.
std::int64_t rank_name(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::write
