// Opening traces and asking questions. Invalid questions and unreadable files throw; nothing here uses
// Python.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "advise/analyses.h"
#include "advise/page.h"
#include "python/objects.h"
#include "report/params.h"
#include "serve/file/report_file.h"

namespace stepscope {
struct Error;
}

namespace stepscope::python {

/// Becomes the exception of that name in stepscope._errors.
struct Refusal : std::runtime_error {
  Refusal(const char* name, const std::string& sentence) : std::runtime_error(sentence), python_name(name) {}
  /// By what is wrong with the error's file: MissingFileError, FilePermissionError or Error.
  explicit Refusal(const stepscope::Error& error);
  const char* python_name;
  std::string file{};    ///< "" if no file is involved
  int error_number = 0;  ///< of errno, 0 if none
};

// Checks of questions. Each throws a Refusal with what is wrong.

unsigned checked_threads(std::int64_t threads);
report::Params params_of(const Given& given, const std::vector<report::ParamSpec>& specs);
/// The answer, unless it is of a range, an event or a column that is not there.
Report finished(const analyze::Analysis& asked, const report::Params& params, advise::Answer answer);
/// Throws a UsageError unless `sentence` is empty.
void refuse(const std::string& sentence);
void refuse_absent_step(const Trace& trace, const report::Params& params);
void refuse_absent_rank(const trace::Trace& trace, std::int64_t rank);
/// Takes "rank" out of `given`, unless it is a param of the analysis itself.
std::optional<std::int64_t> take_rank(const trace::Trace& trace, Given& given,
                                      const analyze::Analysis& asked);

/// The files that these paths lead to, absolute.
std::vector<std::string> input_files(const std::vector<std::string>& paths);

/// `ranks`: of the paths, each a file; empty: as the files say.
std::shared_ptr<Trace> open(std::vector<std::string> paths, std::int64_t threads, std::int64_t run,
                            const std::vector<std::int64_t>& ranks);
/// `given` may also have "rank": then rows of that rank only.
Report analyze(const Trace& trace, const std::string& name, const Given& given);
/// The answer in Holistic Trace Analysis' form of that name; `given` are the params of its question.
Report as_hta(const Trace& trace, const std::string& form, const Given& given);
/// Why a rule or a health row fired or stayed silent; without a trace, the rule alone.
Report explain(const Trace* trace, const std::string& id, const Given& given);

/// A gate's decision: pass, regression or inconclusive, and its report.
struct Decision {
  std::string outcome, headline;
  Report report;
};
/// Whether `now` may replace `base`; params "fail-on", "allow-noise", "step", "skip".
Decision gate(const std::vector<const Trace*>& base, const std::vector<const Trace*>& now,
              const Given& given);

/// What changed from `a` to `b`; params "step" and "skip".
Report diff(const Trace& a, const Trace& b, const Given& given);
/// Draws answers into a copy of a rank's file. `what` names the drawings; empty: all. Returns notes about the
/// copy.
std::vector<std::string> overlay(const Trace& trace, std::size_t rank, const std::vector<std::string>& what,
                                 const Given& given, const std::string& output);
/// The report page; params "step" and "top".
Page page(const Trace& trace, const Given& given, bool everything);
/// The page and its answers as one HTML file, and whether it is larger than `max_size` even without its
/// timeline.
std::pair<std::string, bool> report_file(const Trace& trace, const Given& given, const std::string& max_size,
                                         const std::string& redact);
std::pair<std::string, bool> with_excess(std::string file, const serve::ReportFileOptions& options);
/// The options of both; throws a Refusal for a size or words that make no sense.
serve::ReportFileOptions file_options(const advise::PageOptions& options, const std::string& max_size,
                                      const std::string& redact);

}  // namespace stepscope::python
