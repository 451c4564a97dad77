#include "python/ask.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>

#include "advise/analyses.h"
#include "advise/ask.h"
#include "advise/page.h"
#include "analyze/analyses.h"
#include "analyze/drawing.h"
#include "compare/diff.h"
#include "merge/overlay.h"
#include "read/open.h"
#include "write/output.h"

namespace stepscope::python {
namespace {

using report::ParamSpec;

constexpr ParamSpec kThreads = {"threads", ParamSpec::Type::integer, "0", "", ""};
constexpr std::int64_t kMaxThreads = 1024;

void refuse(const std::string& sentence) {
  if (!sentence.empty()) throw Refusal("UsageError", sentence);
}

const ParamSpec& spec_of(const std::vector<ParamSpec>& specs, const std::string& name) {
  const auto found =
      std::find_if(specs.begin(), specs.end(), [&](const ParamSpec& spec) { return spec.name == name; });
  if (found != specs.end()) return *found;
  std::vector<std::string> known;
  for (const ParamSpec& spec : specs) known.push_back("--" + std::string(spec.name));
  throw Refusal("UsageError", advise::no_such_option("--" + name, known));
}

report::Params params_of(const Given& given, const std::vector<ParamSpec>& specs) {
  report::Params params;
  for (const auto& [name, value] : given) {
    refuse(report::misfit(spec_of(specs, name), value));
    params.set(name, value);
  }
  return params;
}

void refuse_absent_step(const Trace& trace, const report::Params& params) {
  if (params.has("step")) refuse(analyze::absent_step(trace.trace, params));
}

}  // namespace

std::shared_ptr<Trace> open(std::vector<std::string> paths, std::int64_t threads, std::int64_t run) {
  refuse(report::misfit(kThreads, std::to_string(threads)));
  if (paths.empty()) refuse("open needs a trace: a file, a directory, or - for standard input");
  read::OpenOptions options;
  options.threads = static_cast<unsigned>(std::min(threads, kMaxThreads));
  options.run = run;
  auto opened = read::open(paths, options);
  if (opened) return std::make_shared<Trace>(std::move(*opened), std::move(paths), options.threads);
  const Error& error = opened.error();
  std::error_code unknown;
  const bool absent =
      !error.file.empty() && error.file != "-" && !std::filesystem::exists(error.file, unknown);
  throw Refusal(absent ? "MissingFileError" : "Error", error.text());
}

namespace {

std::vector<ParamSpec> with_common(std::span<const ParamSpec> own) {
  const std::span<const ParamSpec> common = report::common_params();
  std::vector<ParamSpec> specs(common.begin(), common.end());
  specs.insert(specs.end(), own.begin(), own.end());
  return specs;
}

}  // namespace

Report analyze(const Trace& trace, const std::string& name, const Given& given) {
  const auto analysis = advise::analysis_named(name);
  if (!analysis) throw Refusal("UsageError", analysis.error().message);
  const analyze::Analysis& asked = **analysis;
  report::Params params = params_of(given, with_common(asked.params));
  refuse(advise::unanswerable(asked, params));
  refuse_absent_step(trace, params);
  params.set("threads", std::to_string(trace.threads));
  advise::Answer answer = advise::answer(asked, *trace.derived(params), params);
  refuse(advise::sort_misfit(params, answer.report));
  if (const std::string sentence = advise::not_found(asked, params, answer.report); !sentence.empty())
    throw Refusal("Error", sentence);
  Report report{std::make_shared<const report::Report>(std::move(answer.report))};
  if (answer.verdict) report.verdict = std::make_shared<const report::Verdict>(std::move(*answer.verdict));
  return report;
}

Report as_hta(const Trace& trace, const std::string& form, const Given& given) {
  const auto found = advise::form_named(analyze::Tool::hta, form);
  if (!found) throw Refusal("UsageError", "Holistic Trace Analysis has no '" + form + "'");
  const report::Params params = params_of(given, with_common(found->question->params));
  return {std::make_shared<const report::Report>(
      analyze::run(*found->question, *found->form, *trace.derived(params), params))};
}

Report diff(const Trace& a, const Trace& b, const Given& given) {
  std::vector<ParamSpec> specs = {{"skip", ParamSpec::Type::integer, "", "", ""}};
  for (const ParamSpec& spec : report::common_params())
    if (spec.name == "step") specs.push_back(spec);
  const report::Params params = params_of(given, specs);
  refuse_absent_step(a, params);
  refuse_absent_step(b, params);
  compare::Pair pair = compare::recordings_of(a.trace, b.trace, params);
  const compare::StepDifference difference = compare::diff(a.trace, b.trace, pair);
  return {std::make_shared<const report::Report>(compare::as_report(difference)), nullptr,
          compare::headline(difference)};
}

std::vector<std::string> overlay(const Trace& trace, std::size_t rank, const std::vector<std::string>& what,
                                 const Given& given, const std::string& output) {
  const std::string& path = trace.trace.ranks.at(rank).path;
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown))
    refuse(path + ": is not a separate file, so it cannot be copied and drawn into");
  for (const trace::Rank& of : trace.trace.ranks)
    if (std::filesystem::equivalent(of.path, output, unknown))
      refuse(output + ": is the trace itself and would be overwritten; choose another place");
  if (!output.ends_with(".json") && !output.ends_with(".json.gz"))
    refuse(output + ": the name of an overlaid trace must end in .json.gz or .json");
  constexpr ParamSpec kFlags[] = {{"all-edges", ParamSpec::Type::flag, "", "", ""},
                                  {"only-critical", ParamSpec::Type::flag, "", "", ""}};
  std::vector<ParamSpec> specs(std::begin(kFlags), std::end(kFlags));
  const std::span<const ParamSpec> of_path = analyze::find("critical_path")->params;
  specs.insert(specs.end(), of_path.begin(), of_path.end());
  const report::Params params = params_of(given, specs);
  refuse(analyze::undrawable(what, params));
  analyze::Sketch sketch =
      analyze::sketch_of(analyze::Derived(trace.trace, params), trace.trace.ranks[rank], what, params);
  if (const std::string absent = analyze::absent_range(sketch, params); !absent.empty())
    throw Refusal("Error", absent);
  auto file = write::Output::open(output);
  if (!file) throw Refusal("Error", file.error().text());
  const auto overlaid =
      merge::write_overlay(path, sketch.drawing(), {trace.threads, output.ends_with(".gz"), {}},
                           [&](std::string_view bytes) { return file->write(bytes); });
  if (!overlaid) throw Refusal("Error", overlaid.error().text());
  if (const auto error = file->finish()) throw Refusal("Error", error->text());
  if (!overlaid->damage.empty())
    sketch.notes.push_back(path + ": " + overlaid->damage + ". The readable part is in the copy.");
  return std::move(sketch.notes);
}

Page page(const Trace& trace, const Given& given, bool everything) {
  std::vector<ParamSpec> specs;
  for (const ParamSpec& spec : report::common_params())
    if (spec.name != "sort") specs.push_back(spec);
  advise::PageOptions options{params_of(given, specs), trace.threads, trace.paths, everything};
  refuse_absent_step(trace, options.params);
  return {std::make_shared<const report::Page>(advise::page_of(trace.trace, options))};
}

}  // namespace stepscope::python
