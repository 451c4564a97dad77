// The page and its answers as one file: docs/serve.md, "The report file".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "report/page.h"
#include "report/params.h"
#include "serve/file/redaction.h"
#include "trace/trace.h"

namespace stepscope::serve {

struct ReportFileOptions {
  report::Params params;               ///< "step" and "top"
  unsigned threads = 0;                ///< 0: as many as the machine has
  std::vector<std::string> paths;      ///< of the trace, as given
  std::int64_t max_size = 20'000'000;  ///< bytes of the file; the report itself is never cut
  Redaction redaction{};               ///< its host names are filled in
};

std::string report_file(const std::shared_ptr<const trace::Trace>& trace, const ReportFileOptions& options);

/// Of ranks that were read one by one: without a timeline. `heads` has no events.
std::string report_file(report::Page page, const trace::Trace& heads, const ReportFileOptions& options);

/// "500kB", "20 MB", "1.5MiB", "3000000" in bytes. An Error if it is none of these.
Result<std::int64_t> size_of(std::string_view text);

}  // namespace stepscope::serve
