#include <fmt/format.h>

#include <chrono>
#include <set>

#include "write/sqlite_state.h"

namespace stepscope::write {
namespace {

/// Allows SELECT and what it needs; refuses everything that writes, attaches or changes a setting.
int allow_reading(void*, int action, const char*, const char* detail, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION: {
      const std::string_view name = detail == nullptr ? "" : detail;
      for (const std::string_view refused :
           {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"})
        if (name == refused) return SQLITE_DENY;
      return SQLITE_OK;
    }
    default:
      return SQLITE_DENY;
  }
}

/// While this object lives, only reading is allowed, and a query is stopped after `time`.
class Guarded {
 public:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;
  Guarded(sqlite3* db, Deadline& deadline, std::chrono::milliseconds time) : db_(db), deadline_(deadline) {
    sqlite3_set_authorizer(db, allow_reading, nullptr);
    if (time.count() > 0) deadline_ = std::chrono::steady_clock::now() + time;
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() {
    sqlite3_set_authorizer(db_, nullptr, nullptr);
    deadline_.reset();
  }

 private:
  sqlite3* db_;
  Deadline& deadline_;
};

/// Unit by the ending of a name. Points in time (start_ns, device_end_ns, time_ns of a flow) have no unit.
report::Unit unit_of(std::string_view name) {
  if (name.ends_with("start_ns") || name.ends_with("end_ns") || name == "base_ns" || name == "time_ns")
    return report::Unit::none;
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

/// Collects a column whose type follows from its values: integers; reals if there is a real; texts if there
/// is a text, or if there are reals and an integer that a double cannot hold exactly. Without a value, the
/// type is that of the table's column; of an expression it is not known, and such a column has reals.
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
  std::variant<report::Ints, report::Reals, report::Texts> finished(std::string_view declared) && {
    const bool empty = !seen_text_ && !seen_real_ && !seen_integer_;
    if (seen_text_ || (seen_real_ && seen_long_) || (empty && declared == "TEXT")) return std::move(texts_);
    if (seen_integer_ && !seen_real_) return std::move(ints_);
    if (empty && declared == "INTEGER") return std::move(ints_);
    return std::move(reals_);
  }

 private:
  void integer(std::int64_t value) {
    constexpr std::int64_t kMaxExact = std::int64_t{1} << 53;
    seen_integer_ = true;
    seen_long_ |= value > kMaxExact || value < -kMaxExact;
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
  bool seen_integer_ = false, seen_long_ = false, seen_real_ = false, seen_text_ = false;
};

/// The names of a result's columns. A join may give one name to several: the second becomes name_2.
std::vector<std::string> names_of(sqlite3_stmt* statement, std::size_t columns) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < columns; ++i) {
    const char* name = sqlite3_column_name(statement, static_cast<int>(i));
    names.emplace_back(name == nullptr ? "" : name);
  }
  std::set<std::string> taken(names.begin(), names.end()), seen;
  for (std::string& name : names) {
    if (seen.insert(name).second) continue;
    std::string distinct;
    for (int n = 2; distinct.empty() || !taken.insert(distinct).second; ++n)
      distinct = fmt::format("{}_{}", name, n);
    name = distinct;
  }
  return names;
}

report::Table table_of(sqlite3_stmt* statement, std::vector<Growing> columns) {
  report::Table table{"", report::Shape::table, {}};
  const std::vector<std::string> names = names_of(statement, columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const char* declared = sqlite3_column_decltype(statement, static_cast<int>(i));
    report::Column column{names[i], report::Unit::none, report::Role::value,
                          std::move(columns[i]).finished(declared == nullptr ? "" : declared)};
    const bool text = is_text(column);
    column.role = text ? report::Role::key : report::Role::value;
    const char* own = sqlite3_column_name(statement, static_cast<int>(i));
    if (!text && own != nullptr) column.unit = unit_of(own);
    table.columns.push_back(std::move(column));
  }
  return table;
}

Error too_slow(std::chrono::milliseconds time) {
  return {fmt::format("the query was stopped after {} s; narrow it with WHERE, or write the tables with "
                      "`stepscope export TRACE -o trace.sqlite` and query that file with sqlite3",
                      static_cast<double>(time.count()) / 1000),
          ""};
}

const Error kOnlySelect{"only SELECT is allowed: the tables cannot be changed", ""};

/// All rows of a statement that only reads.
Result<Answer> answer_of(sqlite3* db, Statement& statement, const AskLimits& limits) {
  constexpr std::size_t kMaxCounted = 1'000'000;
  const auto columns = static_cast<std::size_t>(sqlite3_column_count(statement.get()));
  if (columns == 0 || sqlite3_stmt_readonly(statement.get()) == 0) return kOnlySelect;
  std::vector<Growing> growing(columns);
  Answer answer;
  int code = statement.step();
  for (; code == SQLITE_ROW; code = statement.step()) {
    const bool kept = limits.rows == 0 || answer.rows < limits.rows;
    if (!kept && answer.rows >= kMaxCounted) break;
    ++answer.rows;
    for (std::size_t i = 0; kept && i < columns; ++i) growing[i].take(statement.get(), static_cast<int>(i));
  }
  answer.all_counted = code == SQLITE_DONE;
  const bool enough = limits.rows != 0 && answer.rows >= limits.rows;
  if (code == SQLITE_INTERRUPT && !enough) return too_slow(limits.time);
  if (code != SQLITE_DONE && code != SQLITE_ROW && code != SQLITE_INTERRUPT)
    return Error{sqlite3_errmsg(db), ""};
  answer.table = table_of(statement.get(), std::move(growing));
  return answer;
}

}  // namespace

Result<std::vector<Answer>> Database::ask(const std::string& queries, const AskLimits& limits) {
  // The authorizer stays on while a query runs. Statements without columns (VACUUM INTO, BEGIN) are refused.
  const Guarded guarded(state_->handle, state_->deadline, limits.time);
  std::vector<Answer> answers;
  for (std::string rest = queries; rest.find_first_not_of(" \t\r\n;") != std::string::npos;) {
    Statement statement(state_->handle, rest);
    const int wrong = sqlite3_errcode(state_->handle);
    if (wrong == SQLITE_AUTH) return kOnlySelect;
    if (statement.get() == nullptr && wrong != SQLITE_OK) return Error{sqlite3_errmsg(state_->handle), ""};
    if (statement.get() != nullptr) {
      auto answer = answer_of(state_->handle, statement, limits);
      if (!answer) return answer.error();
      answers.push_back(std::move(*answer));
    }
    rest = std::string(statement.tail());
  }
  if (answers.empty()) return Error{"the query is empty", ""};
  return answers;
}

}  // namespace stepscope::write
