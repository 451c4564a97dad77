// A recording that was read, and what questions about it have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "analyze/derived.h"
#include "lanes/ask/drawn.h"
#include "lanes/timeline.h"
#include "report/params.h"
#include "report/table.h"
#include "serve/kept.h"
#include "trace/trace.h"

namespace stepscope::serve {

using Reports = std::vector<report::Report>;
using Rows = std::vector<std::uint32_t>;  ///< of a table

/// Thread-safe. What it hands out must not outlive it.
class OpenRun {
 public:
  OpenRun(std::shared_ptr<const trace::Trace> trace, std::vector<std::string> files)
      : trace_(std::move(trace)), files_(std::move(files)) {}

  const trace::Trace& trace() const { return *trace_; }
  const std::vector<std::string>& files() const { return files_; }

  /// Of the steps that `params` choose.
  std::shared_ptr<const analyze::Derived> derived(const report::Params& params) const {
    return derived_.get(std::string(params.text("step")), 1,
                        [&] { return std::make_shared<const analyze::Derived>(*trace_, params); });
  }

  /// Made when it is first asked for.
  const lanes::Timeline& timeline() const {
    std::call_once(timeline_made_, [&] { timeline_ = std::make_unique<const lanes::Timeline>(*trace_); });
    return *timeline_;
  }

  /// The finished answer to a question, by its words.
  template <class Make>
  std::shared_ptr<const Reports> reports(const std::string& question, const Make& make) const {
    return reports_.get(question, 1, [&] { return std::make_shared<const Reports>(make()); });
  }

  /// The critical path of a step, by the words of the question.
  template <class Make>
  std::shared_ptr<const lanes::DrawnPath> path(const std::string& question, const Make& make) const {
    return paths_.get(question, 1, [&] { return std::make_shared<const lanes::DrawnPath>(make()); });
  }

  /// The rows of a table in an order, by the words of the question.
  template <class Make>
  std::shared_ptr<const Rows> rows(const std::string& question, const Make& make) const {
    return rows_.get(question, 1, [&] { return std::make_shared<const Rows>(make()); });
  }

 private:
  static constexpr std::int64_t kMaxDerived = 4, kMaxReports = 64, kMaxRows = 8, kMaxPaths = 4;

  const std::shared_ptr<const trace::Trace> trace_;
  const std::vector<std::string> files_;
  mutable Kept<analyze::Derived> derived_{kMaxDerived};
  mutable Kept<Reports> reports_{kMaxReports};
  mutable Kept<lanes::DrawnPath> paths_{kMaxPaths};
  mutable Kept<Rows> rows_{kMaxRows};
  mutable std::once_flag timeline_made_;
  mutable std::unique_ptr<const lanes::Timeline> timeline_;
};

}  // namespace stepscope::serve
