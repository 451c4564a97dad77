// What the module's objects hold. Each keeps alive what it looks into; all of it is const, so threads may
// share it.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/arrow.h"
#include "report/page.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::python {

struct Trace {
  trace::Trace trace;
  std::vector<std::string> paths;  ///< as they were given
  unsigned threads = 0;
};

using Given = std::vector<std::pair<std::string, std::string>>;  ///< params by name, in the order given

struct Report {
  std::shared_ptr<const report::Report> report;
};

struct Page {
  std::shared_ptr<const report::Page> page;
};

class Table {
 public:
  explicit Table(std::shared_ptr<const report::Table> table) : table_(std::move(table)) {}

  const report::Table& table() const { return *table_; }
  /// As a report of its own, for the printers.
  report::Report alone() const { return {table_->title, {*table_}, {}}; }
  const report::ArrowTable& arrow() const {
    std::call_once(made_, [this] { arrow_.emplace(table_); });
    return *arrow_;
  }

 private:
  std::shared_ptr<const report::Table> table_;
  mutable std::once_flag made_;
  mutable std::optional<report::ArrowTable> arrow_;
};

}  // namespace stepscope::python
