#include "advise/page.h"
#include "cli/by_rank.h"
#include "cli/present.h"

namespace stepscope::cli {
namespace {

int report_together(const Call& call, const advise::PageOptions& options) {
  const auto trace = open_trace(call, call.words);
  return trace ? print(call, advise::page_of(*trace, options)) : fail(trace.error());
}

int report_by_rank(const Call& call, const advise::PageOptions& options) {
  auto survey = Survey::of(call, true);
  if (!survey) return fail(survey.error());
  if (survey->alone()) return report_together(call, options);
  const auto page = advise::page_of(survey->ranks(), options);
  return page ? print(call, *page) : fail(page.error());
}

}  // namespace

int run_report(const Call& call) {
  if (call.words.empty()) return no_trace(call);
  advise::PageOptions options;
  for (const char* name : {"step", "top"})
    if (call.params.has(name)) options.params.set(name, std::string(call.params.text(name)));
  options.threads = static_cast<unsigned>(call.params.integer("threads"));
  options.paths = call.words;
  options.everything = format_of(call) != "text";
  return asks_by_rank(call) ? report_by_rank(call, options) : report_together(call, options);
}

}  // namespace stepscope::cli
