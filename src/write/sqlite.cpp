#include "write/sqlite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <utility>

#include "write/sqlite_state.h"
#include "write/trace_rows.h"

namespace stepscope::write {
namespace {

std::string sql_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

/// Binds a row and inserts it.
class Inserter final : public RowSink {
 public:
  Inserter(sqlite3* db, std::string_view table, std::size_t columns)
      : statement_(db, fmt::format("INSERT INTO {} VALUES (?{})", sql_name(table), repeated_marks(columns))),
        ok_(statement_.get() != nullptr) {}
  void integer(std::int64_t value) override { sqlite3_bind_int64(statement_.get(), ++at_, value); }
  void real(double value) override { sqlite3_bind_double(statement_.get(), ++at_, value); }
  void text(std::string_view value) override {
    sqlite3_bind_text64(statement_.get(), ++at_, value.data() == nullptr ? "" : value.data(), value.size(),
                        SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  void nothing() override { sqlite3_bind_null(statement_.get(), ++at_); }
  bool end_row() override {
    ok_ = ok_ && statement_.step() == SQLITE_DONE;
    statement_.reset();
    at_ = 0;
    return ok_;
  }
  bool ok() const { return ok_; }

 private:
  static std::string repeated_marks(std::size_t columns) {
    std::string marks;
    for (std::size_t i = 1; i < columns; ++i) marks += ",?";
    return marks;
  }
  Statement statement_;
  bool ok_;
  int at_ = 0;
};

std::string_view sql_type(const report::Column& column) {
  if (std::holds_alternative<report::Ints>(column.values)) return "INTEGER";
  return std::holds_alternative<report::Reals>(column.values) ? "REAL" : "TEXT";
}

void put_value(RowSink& sink, const report::Column& column, std::size_t row) {
  if (column.missing(row)) return sink.nothing();
  if (const auto* ints = std::get_if<report::Ints>(&column.values)) return sink.integer((*ints)[row]);
  if (const auto* reals = std::get_if<report::Reals>(&column.values)) return sink.real((*reals)[row]);
  sink.text(std::get<report::Texts>(column.values)[row]);
}

}  // namespace

Database::Database(sqlite3* handle) : state_(std::make_unique<State>()) {
  constexpr int kOperations = 200'000;
  constexpr int kMaxValue = 1 << 27;  // bytes: twice the longest event that is read
  state_->handle = handle;
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMaxValue);
  sqlite3_progress_handler(
      handle, kOperations,
      [](void* of_database) {
        const State& state = *static_cast<State*>(of_database);
        if (state.tell) state.tell();
        return state.deadline && std::chrono::steady_clock::now() > *state.deadline ? 1 : 0;
      },
      state_.get());
}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::in_memory() {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Database database(handle);
  if (code != SQLITE_OK || !add_functions(handle)) return database.state_->error();
  return database;
}

Result<Database> Database::create(const std::string& path) {
  auto place = place_of(path);
  if (!place) return place.error();
  std::error_code absent;
  std::filesystem::remove(place->part, absent);
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(place->part.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Database database(handle);
  database.state_->place = std::move(*place);
  // A new file needs no crash safety: after a crash it is made again.
  if (code != SQLITE_OK || !database.state_->run("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF"))
    return database.state_->error();
  return database;
}

std::optional<Error> Database::finish() {
  sqlite3_close(std::exchange(state_->handle, nullptr));
  Place& place = state_->place;
  std::error_code error;
  std::filesystem::rename(place.part, place.path, error);
  if (error) return Error{"could not be written completely: " + error.message(), place.path};
  place.part.clear();
  return std::nullopt;
}

void Database::on_progress(std::function<void()> tell) { state_->tell = std::move(tell); }

std::optional<Error> Database::fill(std::string_view table, const std::vector<std::string>& columns,
                                    const std::function<void(RowSink&)>& put) {
  if (!state_->run(fmt::format("CREATE TABLE {} ({}); BEGIN", sql_name(table), fmt::join(columns, ", "))))
    return state_->error();
  Inserter inserter(state_->handle, table, columns.size());
  put(inserter);
  if (!inserter.ok() || !state_->run("COMMIT")) return state_->error();
  return std::nullopt;
}

std::optional<Error> Database::add(std::string_view table, const trace::Trace& trace) {
  for (const TraceTable& known : trace_tables()) {
    if (known.name != table) continue;
    if (!known.view.empty()) {
      if (!state_->run(fmt::format("CREATE VIEW {} AS {}", sql_name(table), known.view)))
        return state_->error();
      return std::nullopt;
    }
    std::vector<std::string> columns;
    for (const ColumnNote& c : known.columns) columns.push_back(sql_name(c.name) + " " + std::string(c.type));
    auto error = fill(table, columns, [&](RowSink& sink) { put_rows(table, trace, sink); });
    if (!error && state_->tell) state_->tell();
    return error;
  }
  return Error{fmt::format("there is no table '{}'", table), ""};
}

std::optional<Error> Database::add(const report::Report& report) {
  for (std::size_t i = 0; i < report.tables.size(); ++i) {
    const report::Table& table = report.tables[i];
    if (table.columns.empty()) continue;
    std::vector<std::string> columns;
    for (const report::Column& c : table.columns)
      columns.push_back(sql_name(c.name) + " " + std::string(sql_type(c)));
    const auto put = [&](RowSink& sink) {
      for (std::size_t row = 0; row < table.rows(); ++row) {
        for (const report::Column& c : table.columns) put_value(sink, c, row);
        if (!sink.end_row()) return;
      }
    };
    if (auto error = fill(table_name(report, i), columns, put)) return error;
  }
  return std::nullopt;
}

}  // namespace stepscope::write
