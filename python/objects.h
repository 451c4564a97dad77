// The C++ side of the module's objects. Each keeps the data that it refers to alive; all data is const, so
// threads may share it.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyze/derived.h"
#include "report/formats/arrow.h"
#include "report/given.h"
#include "report/page.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::python {

struct Trace {
  Trace(trace::Trace read, std::vector<std::string> from, std::vector<std::string> read_files,
        unsigned most_threads)
      : trace(std::move(read)), paths(std::move(from)), files(std::move(read_files)), threads(most_threads) {}

  const trace::Trace trace;
  const std::vector<std::string> paths;  ///< as given by the caller
  const std::vector<std::string> files;  ///< that these paths led to when they were opened, absolute
  const unsigned threads;

  /// Data that all analyses of the chosen steps share. Cached for the last choice of steps, as callers often
  /// ask several questions about it.
  std::shared_ptr<const analyze::Derived> derived(const report::Params& params) const {
    const std::lock_guard lock(mutex_);
    if (std::string step(params.text("step")); derived_ == nullptr || step != step_) {
      step_ = std::move(step);
      derived_ = std::make_shared<const analyze::Derived>(trace, params);
    }
    return derived_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::string step_;
  mutable std::shared_ptr<const analyze::Derived> derived_;
};

using report::Given;

struct Report {
  std::shared_ptr<const report::Report> report;
  std::shared_ptr<const report::Verdict> verdict = nullptr;  ///< of findings: printed in place of `report`
  std::string headline = {};  ///< of a comparison; printed with its first table
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
