#include "serve/questions.h"

#include <fmt/format.h>

#include <utility>

#include "advise/analyses.h"
#include "advise/ask.h"
#include "advise/explain.h"
#include "advise/page.h"
#include "compare/answer.h"
#include "report/formats/json.h"
#include "report/suggest.h"
#include "serve/address.h"

namespace stepscope::serve {
namespace {

constexpr std::string_view kListed = "api/analyses lists them.";

report::Params checked_params(const report::Given& given, std::span<const report::ParamSpec> specs) {
  auto params = report::params_of(given, specs);
  if (!params) throw Refusal{400, params.error().message};
  return std::move(*params);
}

void refuse(int status, const std::string& sentence) {
  if (!sentence.empty()) throw Refusal{status, sentence};
}

void refuse_absent_step(const trace::Trace& trace, const report::Params& params) {
  if (params.has("step")) refuse(400, analyze::absent_step(trace, params));
}

/// The words of a question, for those that were answered.
std::string words_of(std::string_view route, std::string_view subject, const report::Params& params) {
  std::string words = fmt::format("{} {}", route, subject);
  for (const auto& [name, value] : params.all()) words += fmt::format("\n{}={}", name, value);
  return words;
}

Reports run_analysis(Asked& asked, const analyze::Analysis& analysis, const report::Params& params) {
  refuse_absent_step(asked.run.trace(), params);
  const auto derived = asked.run.derived(params);
  stop_if_gone(asked.request);
  report::Report report = advise::answer(analysis, *derived, params).report;
  refuse(400, advise::sort_misfit(params, report));
  refuse(404, advise::not_found(analysis, params, report));
  return {std::move(report)};
}

Reports run_page(Asked& asked, const report::Params& params) {
  refuse_absent_step(asked.run.trace(), params);
  advise::PageOptions options;
  options.params = params;
  options.paths = asked.run.files();
  options.everything = true;
  const auto derived = asked.run.derived(params);
  stop_if_gone(asked.request);
  return advise::page_of(*derived, options).reports;
}

Reports run_explanation(Asked& asked, const advise::ExplainedId& id, const report::Params& params) {
  refuse_absent_step(asked.run.trace(), params);
  const auto derived = asked.run.derived(params);
  stop_if_gone(asked.request);
  return {advise::explanation(advise::entry_of(id), advise::explain(id, *derived, advise::gather(*derived)))};
}

Response compared(const trace::Trace& a, const trace::Trace& b, const report::Params& params) {
  compare::Pair pair = compare::recordings_of(a, b, params);
  if (!params.has("what")) {
    const compare::StepDifference difference = compare::diff(a, b, pair);
    return json(report::to_json(compare::page_of(a, b, pair, difference, 0).reports));
  }
  const auto analysis = compare::comparable_named(params.text("what"));
  if (!analysis) throw Refusal{400, analysis.error().message};
  return json(report::to_json(compare::report_of(a, b, pair, **analysis, params, 0)));
}

}  // namespace

std::shared_ptr<const Reports> shown(Asked& asked) {
  const auto analysis = advise::analysis_named(asked.words.front());
  if (!analysis) throw Refusal{404, analysis.error().message, std::string(kListed)};
  const report::Params params = checked_params(asked.query, advise::with_common((*analysis)->params));
  refuse(400, advise::unanswerable(**analysis, params));
  return asked.run.reports(words_of("show", (*analysis)->name, params),
                           [&] { return run_analysis(asked, **analysis, params); });
}

Response answer_show(Asked& asked) { return json(report::to_json(shown(asked)->front())); }

Response answer_report(Asked& asked) {
  const report::Params params = checked_params(asked.query, advise::page_params());
  return json(report::to_json(
      *asked.run.reports(words_of("report", "", params), [&] { return run_page(asked, params); })));
}

Response answer_explain(Asked& asked) {
  const std::string& typed = asked.words.front();
  const auto id = advise::id_of(typed);
  if (!id)
    throw Refusal{404, fmt::format("there is no rule '{}'.{}", typed,
                                   report::did_you_mean(typed, advise::explainable_names()))};
  const report::Params params = checked_params(asked.query, advise::step_params());
  const auto reports = asked.run.reports(words_of("explain", advise::name_of(*id), params),
                                         [&] { return run_explanation(asked, *id, params); });
  return json(report::to_json(reports->front()));
}

Response answer_diff(Asked& asked) {
  if (asked.runs == nullptr) throw Refusal{404, "there is no other run"};
  const std::size_t number = number_of(take(asked.query, "base"), "base");
  std::vector<report::ParamSpec> specs = advise::page_params();
  specs.insert(specs.end(), {compare::kWhat, compare::kSkip});
  const report::Params params = checked_params(asked.query, specs);
  const FoundRun found = asked.runs->found(number);
  asked.etag += '-' + found.stamp.hash;
  if (is_known(asked.request, asked.etag)) return {};
  const Runs::Opened base = asked.runs->open(number, found);
  for (const trace::Trace* trace : {&base->trace(), &asked.run.trace()}) refuse_absent_step(*trace, params);
  stop_if_gone(asked.request);
  return compared(base->trace(), asked.run.trace(), params);
}

}  // namespace stepscope::serve
