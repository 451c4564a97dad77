#include <fmt/format.h>

#include <memory>
#include <utility>

#include "advise/page.h"
#include "cli/by_rank.h"
#include "cli/present.h"
#include "report/units.h"
#include "serve/file/report_file.h"

namespace stepscope::cli {
namespace {

serve::ReportFileOptions file_options(const Call& call, const advise::PageOptions& options) {
  serve::ReportFileOptions file;
  file.params = options.params;
  file.threads = options.threads;
  file.paths = options.paths;
  file.max_size = serve::size_of(call.params.text("max-size", "20MB")).value();
  file.redaction = serve::redaction_of(call.params.text("redact")).value();
  return file;
}

int put_file(const Call& call, const serve::ReportFileOptions& options, const std::string& html) {
  const auto size = static_cast<std::int64_t>(html.size());
  if (size > options.max_size)
    say(
        fmt::format("the file exceeds --max-size: the report without its timeline takes {}; a smaller --top "
                    "makes it smaller",
                    report::format_value(size, report::Unit::bytes)));
  return put(call, html);
}

int report_together(const Call& call, const advise::PageOptions& options) {
  auto trace = open_trace(call, call.words);
  if (!trace) return fail(trace.error());
  if (format_of(call) != "html") return print(call, advise::page_of(*trace, options));
  const auto file = file_options(call, options);
  return put_file(call, file,
                  serve::report_file(std::make_shared<const trace::Trace>(std::move(*trace)), file));
}

int report_by_rank(const Call& call, const advise::PageOptions& options) {
  auto survey = Survey::of(call, true);
  if (!survey) return fail(survey.error());
  if (survey->alone()) return report_together(call, options);
  advise::RankByRank ranks = survey->ranks();
  const trace::Trace& heads = ranks.heads;
  auto page = advise::page_of(std::move(ranks), options);
  if (!page) return fail(page.error());
  if (format_of(call) != "html") return print(call, *page);
  const auto file = file_options(call, options);
  return put_file(call, file, serve::report_file(std::move(*page), heads, file));
}

/// The error of a flag that makes no sense, else "".
std::string misfit_of(const Call& call) {
  if (const auto size = serve::size_of(call.params.text("max-size", "20MB")); !size)
    return "--max-size: " + size.error().message;
  const auto redaction = serve::redaction_of(call.params.text("redact"));
  if (!redaction) return redaction.error().message;
  for (const char* name : {"max-size", "redact"})
    if (call.params.has(name) && format_of(call) != "html")
      return std::string("--") + name + " is for HTML files: give -o report.html";
  return "";
}

}  // namespace

int run_report(const Call& call) {
  if (call.words.empty()) return no_trace(call);
  if (const std::string misfit = misfit_of(call); !misfit.empty()) return misuse(call, misfit);
  advise::PageOptions options;
  for (const char* name : {"step", "top"})
    if (call.params.has(name)) options.params.set(name, std::string(call.params.text(name)));
  options.threads = static_cast<unsigned>(call.params.integer("threads"));
  options.paths = call.words;
  options.everything = format_of(call) != "text";
  return asks_by_rank(call) ? report_by_rank(call, options) : report_together(call, options);
}

}  // namespace stepscope::cli
