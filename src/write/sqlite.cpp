#include "write/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdio>
#include <filesystem>
#include <limits>
#include <utility>

#include "write/trace_rows.h"

namespace stepscope::write {
namespace {

/// A prepared statement. Binds are by position from 1.
class Statement {
 public:
  Statement(sqlite3* db, const std::string& sql) {
    sqlite3_prepare_v2(db, sql.c_str(), static_cast<int>(std::min<std::size_t>(sql.size() + 1, 1 << 30)),
                       &handle_, &tail_);
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(handle_); }
  sqlite3_stmt* get() const { return handle_; }
  std::string_view tail() const { return tail_ == nullptr ? "" : tail_; }
  int step() { return sqlite3_step(handle_); }
  void reset() { sqlite3_reset(handle_); }

 private:
  sqlite3_stmt* handle_ = nullptr;
  const char* tail_ = nullptr;
};

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

/// SELECT and what it needs; nothing that writes, attaches or changes a setting.
int allow_reading(void*, int action, const char*, const char* detail, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION: {
      const std::string_view name = detail == nullptr ? "" : detail;
      return name == "load_extension" || name == "writefile" || name == "edit" ? SQLITE_DENY : SQLITE_OK;
    }
    default:
      return SQLITE_DENY;
  }
}

class Guarded {
 public:
  explicit Guarded(sqlite3* db) : db_(db) { sqlite3_set_authorizer(db, allow_reading, nullptr); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { sqlite3_set_authorizer(db_, nullptr, nullptr); }

 private:
  sqlite3* db_;
};

report::Unit unit_of(std::string_view name) {
  if (name.ends_with("_ns")) return report::Unit::ns;
  if (name.ends_with("_bytes")) return report::Unit::bytes;
  if (name.ends_with("_share")) return report::Unit::share;
  return report::Unit::none;
}

std::string_view text_of(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return text == nullptr
             ? std::string_view()
             : std::string_view(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
}

/// Grows a column as its values come: whole numbers until a real one appears, texts as soon as one does.
class Growing {
 public:
  void take(sqlite3_stmt* statement, int column) {
    switch (sqlite3_column_type(statement, column)) {
      case SQLITE_INTEGER:
        return integer(sqlite3_column_int64(statement, column));
      case SQLITE_FLOAT:
        return real(sqlite3_column_double(statement, column));
      case SQLITE_NULL:
        return nothing();
      default:
        return text(std::string(text_of(statement, column)));
    }
  }
  std::variant<report::Ints, report::Reals, report::Texts> finished() && {
    if (!seen_text_ && seen_real_) return std::move(reals_);
    if (!seen_text_ && seen_integer_) return std::move(ints_);
    return std::move(texts_);
  }

 private:
  void integer(std::int64_t value) {
    seen_integer_ = true;
    put(value, static_cast<double>(value), std::to_string(value));
  }
  void real(double value) {
    seen_real_ = true;
    put(report::kNoInt, value, fmt::format("{}", value));
  }
  void text(std::string value) {
    seen_text_ = true;
    put(report::kNoInt, report::kNoReal, std::move(value));
  }
  void nothing() { put(report::kNoInt, report::kNoReal, ""); }
  void put(std::int64_t whole, double real_value, std::string words) {
    ints_.push_back(whole);
    reals_.push_back(real_value);
    texts_.push_back(std::move(words));
  }
  report::Ints ints_;
  report::Reals reals_;
  report::Texts texts_;
  bool seen_integer_ = false, seen_real_ = false, seen_text_ = false;
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

struct Database::State {
  sqlite3* handle = nullptr;
  std::string path;
  std::function<void()> tell;

  ~State() { sqlite3_close(handle); }
  Error error() const { return {sqlite3_errmsg(handle), path}; }
  bool run(const std::string& sql) {
    return sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  }
};

Database::Database(sqlite3* handle) : state_(std::make_unique<State>()) { state_->handle = handle; }
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::in_memory() {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Database database(handle);
  if (code != SQLITE_OK) return database.state_->error();
  return database;
}

Result<Database> Database::create(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Database database(handle);
  database.state_->path = path;
  // A file that is being made needs no protection from a crash: it would be made again.
  if (code != SQLITE_OK || !database.state_->run("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF"))
    return database.state_->error();
  return database;
}

void Database::on_progress(std::function<void()> tell) {
  constexpr int kOperations = 200'000;
  state_->tell = std::move(tell);
  sqlite3_progress_handler(
      state_->handle, kOperations,
      [](void* state) {
        const auto& call = static_cast<State*>(state)->tell;
        if (call) call();
        return 0;
      },
      state_.get());
}

std::optional<Error> Database::add(std::string_view table, const trace::Trace& trace) {
  for (const TraceTable& known : trace_tables()) {
    if (known.name != table) continue;
    std::string columns;
    for (const ColumnNote& c : known.columns)
      columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", sql_name(c.name), c.type);
    if (!state_->run(fmt::format("CREATE TABLE {} ({}); BEGIN", sql_name(table), columns)))
      return state_->error();
    Inserter inserter(state_->handle, table, known.columns.size());
    put_rows(table, trace, inserter);
    if (!inserter.ok() || !state_->run("COMMIT")) return state_->error();
    if (state_->tell) state_->tell();
    return std::nullopt;
  }
  return Error{fmt::format("there is no table '{}'", table), ""};
}

std::optional<Error> Database::add(const report::Report& report) {
  for (std::size_t i = 0; i < report.tables.size(); ++i) {
    const report::Table& table = report.tables[i];
    if (table.columns.empty()) continue;
    const std::string name = table_name(report, i);
    std::string columns;
    for (const report::Column& c : table.columns)
      columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", sql_name(c.name), sql_type(c));
    if (!state_->run(fmt::format("CREATE TABLE {} ({}); BEGIN", sql_name(name), columns)))
      return state_->error();
    Inserter inserter(state_->handle, name, table.columns.size());
    for (std::size_t row = 0; row < table.rows() && inserter.ok(); ++row) {
      for (const report::Column& c : table.columns) put_value(inserter, c, row);
      inserter.end_row();
    }
    if (!inserter.ok() || !state_->run("COMMIT")) return state_->error();
  }
  return std::nullopt;
}

Result<report::Table> Database::ask(const std::string& query) {
  // The authorizer stays on while the query runs; what gives no columns (VACUUM INTO, BEGIN) is no question.
  const Guarded guarded(state_->handle);
  Statement statement(state_->handle, query);
  const int wrong = sqlite3_errcode(state_->handle);
  const Error only_select{"only SELECT is allowed: the tables cannot be changed", ""};
  if (wrong == SQLITE_AUTH) return only_select;
  if (statement.get() == nullptr)
    return wrong == SQLITE_OK ? Error{"the query is empty", ""} : Error{sqlite3_errmsg(state_->handle), ""};
  if (statement.tail().find_first_not_of(" \t\r\n;") != std::string_view::npos)
    return Error{"one query at a time, please: something follows the first one", ""};
  const auto columns = static_cast<std::size_t>(sqlite3_column_count(statement.get()));
  if (columns == 0 || sqlite3_stmt_readonly(statement.get()) == 0) return only_select;
  std::vector<Growing> growing(columns);
  int code = statement.step();
  for (; code == SQLITE_ROW; code = statement.step())
    for (std::size_t i = 0; i < columns; ++i) growing[i].take(statement.get(), static_cast<int>(i));
  if (code != SQLITE_DONE) return Error{sqlite3_errmsg(state_->handle), ""};
  report::Table table{"", report::Shape::table, {}};
  for (std::size_t i = 0; i < columns; ++i) {
    const char* name = sqlite3_column_name(statement.get(), static_cast<int>(i));
    report::Column column{name == nullptr ? "" : name, report::Unit::none, report::Role::value,
                          std::move(growing[i]).finished()};
    const bool text = std::holds_alternative<report::Texts>(column.values);
    column.role = text ? report::Role::key : report::Role::value;
    if (!text) column.unit = unit_of(column.name);
    table.columns.push_back(std::move(column));
  }
  return table;
}

}  // namespace stepscope::write
