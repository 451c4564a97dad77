#include <fmt/format.h>

#include "write/sqlite_state.h"

namespace stepscope::write {
namespace {

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

/// Refuses everything else while it lives.
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

}  // namespace

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
