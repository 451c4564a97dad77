// Shared by sqlite.cpp and sqlite_ask.cpp only: the connection and prepared statements.
#pragma once

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "write/output.h"
#include "write/sqlite.h"

namespace stepscope::write {

/// A prepared statement. Parameters are bound by position, from 1.
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

struct Database::State {
  sqlite3* handle = nullptr;
  Place place;  ///< only of a file
  std::function<void()> tell;
  std::optional<std::chrono::steady_clock::time_point> deadline;  ///< of the running query

  ~State() {
    sqlite3_close(handle);
    if (!place.part.empty()) ::unlink(place.part.c_str());
  }
  Error error() const { return {sqlite3_errmsg(handle), place.path}; }
  bool run(const std::string& sql) {
    return sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  }
};

/// Adds median, percentile, stddev and regexp. False if it fails.
bool add_functions(sqlite3* db);

}  // namespace stepscope::write
