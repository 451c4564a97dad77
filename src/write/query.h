// SQL on a trace: its own tables and those of reports, each made only when a query names it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/table.h"
#include "trace/trace.h"
#include "write/sqlite.h"

namespace stepscope::write {

/// A report whose tables can be queried under their table_name().
struct QueriedReport {
  std::string_view name;
  std::function<report::Report()> make;
};

struct QueryOptions {
  AskLimits limits;
  std::string_view how_to_list;    ///< completes the sentence about an unknown column: "X lists them"
  std::function<void()> progress;  ///< called from time to time; may be empty
};

/// Runs each query of `queries`, which semicolons separate.
Result<std::vector<Answer>> query(const trace::Trace& trace, std::span<const QueriedReport> reports,
                                  const std::string& queries, const QueryOptions& options);

/// Every table and column that a query may name.
report::Report queried_tables(std::span<const QueriedReport> reports);

/// Writes the trace's tables (unless `reports_only`) and those of the reports to a new SQLite file.
std::optional<Error> export_sqlite(const trace::Trace& trace, std::span<const QueriedReport> reports,
                                   const std::string& path, bool reports_only,
                                   const std::function<void()>& progress);

}  // namespace stepscope::write
