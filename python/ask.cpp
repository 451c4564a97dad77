#include "python/ask.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

#include "advise/analyses.h"
#include "advise/ask.h"
#include "advise/explain.h"
#include "advise/page.h"
#include "analyze/analyses.h"
#include "analyze/drawing.h"
#include "compare/answer.h"
#include "compare/gate.h"
#include "merge/overlay.h"
#include "read/files.h"
#include "read/open.h"
#include "report/given.h"
#include "report/suggest.h"
#include "write/output.h"
#include "write/sqlite.h"

namespace stepscope::python {
namespace {

using report::ParamSpec;

constexpr ParamSpec kThreads = {"threads", ParamSpec::Type::integer, "0", "", ""};
constexpr std::int64_t kMaxThreads = 1024;

}  // namespace

report::Params params_of(const Given& given, const std::vector<ParamSpec>& specs) {
  auto params = report::params_of(given, specs);
  if (!params) throw Refusal("UsageError", params.error().message);
  return std::move(*params);
}

namespace {

/// The error; of an absent file whose name is a pattern, with what to do.
std::string sentence_of(const stepscope::Error& error) {
  const bool pattern = error.file.find_first_of("*?[") != std::string::npos;
  if (!pattern || ::access(error.file.c_str(), F_OK) == 0) return error.text();
  return error.text() + "; a pattern is not expanded: give what glob.glob() finds";
}

}  // namespace

Refusal::Refusal(const stepscope::Error& error) : Refusal("Error", sentence_of(error)) {
  if (error.file.empty() || error.file == "-") return;
  file = error.file;
  if (::access(file.c_str(), F_OK) != 0 && errno == ENOENT) {
    python_name = "MissingFileError";
    error_number = ENOENT;
  } else if (::access(file.c_str(), R_OK) != 0 && errno == EACCES) {
    python_name = "FilePermissionError";
    error_number = EACCES;
  }
}

void refuse(const std::string& sentence) {
  if (!sentence.empty()) throw Refusal("UsageError", sentence);
}

void refuse_absent_step(const Trace& trace, const report::Params& params) {
  if (params.has("step")) refuse(analyze::absent_step(trace.trace, params));
}

void refuse_absent_rank(const trace::Trace& trace, std::int64_t rank) {
  std::string known;
  for (const trace::Rank& of : trace.ranks) {
    if (write::rank_name(trace, of) == rank) return;
    known += (known.empty() ? "" : ", ") + std::to_string(write::rank_name(trace, of));
  }
  refuse("rank " + std::to_string(rank) + " is not among the ranks of this trace: " + known);
}

unsigned checked_threads(std::int64_t threads) {
  refuse(report::misfit(kThreads, std::to_string(threads)));
  return static_cast<unsigned>(std::min(threads, kMaxThreads));
}

std::vector<std::string> input_files(const std::vector<std::string>& paths) {
  auto files = read::files_of(paths, read::kReadable);
  if (!files) return {};
  std::error_code unknown;
  for (std::string& file : *files)
    if (file != "-") file = std::filesystem::absolute(file, unknown).string();
  return std::move(*files);
}

std::shared_ptr<Trace> open(std::vector<std::string> paths, std::int64_t threads, std::int64_t run,
                            const std::vector<std::int64_t>& ranks) {
  const unsigned most = checked_threads(threads);
  if (paths.empty()) refuse("open needs a trace: a file, a directory, or - for standard input");
  read::OpenOptions options;
  options.threads = most;
  options.run = run;
  for (std::size_t i = 0; i < std::min(ranks.size(), paths.size()); ++i) options.ranks[paths[i]] = ranks[i];
  auto opened = read::open(paths, options);
  if (!opened) throw Refusal(opened.error());
  std::vector<std::string> files = input_files(paths);
  return std::make_shared<Trace>(std::move(*opened), std::move(paths), std::move(files), options.threads);
}

Report finished(const analyze::Analysis& asked, const report::Params& params, advise::Answer answer) {
  refuse(advise::sort_misfit(params, answer.report));
  if (const std::string sentence = advise::not_found(asked, params, answer.report); !sentence.empty())
    throw Refusal("Error", sentence);
  Report report{std::make_shared<const report::Report>(std::move(answer.report))};
  if (answer.verdict) report.verdict = std::make_shared<const report::Verdict>(std::move(*answer.verdict));
  return report;
}

std::optional<std::int64_t> take_rank(const trace::Trace& trace, Given& given,
                                      const analyze::Analysis& asked) {
  const auto own = [](const ParamSpec& spec) { return spec.name == "rank"; };
  const auto found = std::ranges::find(given, "rank", &Given::value_type::first);
  if (found == given.end() || std::ranges::any_of(asked.params, own)) return std::nullopt;
  refuse(report::misfit({"rank", ParamSpec::Type::integer, "", "", ""}, found->second));
  report::Params params;
  params.set("rank", found->second);
  given.erase(found);
  const std::int64_t rank = params.integer("rank");
  refuse_absent_rank(trace, rank);
  return rank;
}

Report analyze(const Trace& trace, const std::string& name, const Given& given) {
  const auto analysis = advise::analysis_named(name);
  if (!analysis) throw Refusal("UsageError", analysis.error().message);
  const analyze::Analysis& asked = **analysis;
  Given rest = given;
  const std::optional<std::int64_t> rank = take_rank(trace.trace, rest, asked);
  report::Params params = params_of(rest, advise::with_common(asked.params));
  refuse(advise::unanswerable(asked, params));
  refuse_absent_step(trace, params);
  params.set("threads", std::to_string(trace.threads));
  const auto derived = trace.derived(params);
  return finished(asked, params,
                  rank ? advise::answer_of_rank(asked, *derived, params, *rank)
                       : advise::answer(asked, *derived, params));
}

Report as_hta(const Trace& trace, const std::string& form, const Given& given) {
  const auto found = advise::form_named(analyze::Tool::hta, form);
  if (!found) throw Refusal("UsageError", "Holistic Trace Analysis has no '" + form + "'");
  const report::Params params = params_of(given, advise::with_common(found->question->params));
  return {std::make_shared<const report::Report>(
      analyze::run(*found->question, *found->form, *trace.derived(params), params))};
}

Report diff(const Trace& a, const Trace& b, const Given& given) {
  std::vector<ParamSpec> specs = advise::step_params();
  specs.push_back(compare::kSkip);
  const report::Params params = params_of(given, specs);
  refuse_absent_step(a, params);
  refuse_absent_step(b, params);
  compare::Pair pair = compare::recordings_of(a.trace, b.trace, params);
  const compare::StepDifference difference = compare::diff(a.trace, b.trace, pair);
  return {std::make_shared<const report::Report>(compare::as_report(difference)), nullptr,
          compare::headline(difference)};
}

Report explain(const Trace* trace, const std::string& id, const Given& given) {
  const std::optional<advise::ExplainedId> named = advise::id_of(id);
  if (!named)
    refuse("there is no rule '" + id + "'." + report::did_you_mean(id, advise::explainable_names()) +
           " stepscope.rules() names them all.");
  std::vector<advise::Explained> explained;
  if (trace != nullptr) {
    const report::Params params = params_of(given, advise::step_params());
    refuse_absent_step(*trace, params);
    const auto derived = trace->derived(params);
    explained = advise::explain(*named, *derived, advise::gather(*derived, trace->threads), trace->threads);
  }
  return {std::make_shared<const report::Report>(advise::explanation(advise::entry_of(*named), explained))};
}

namespace {

void refuse_run(const std::string& path) {
  refuse(path + " is given twice for one side; each run needs a recording of its own");
}

void refuse_repeated(const std::vector<const Trace*>& side) {
  std::vector<std::string> files;
  for (auto one = side.begin(); one != side.end(); ++one) {
    files.insert(files.end(), (*one)->files.begin(), (*one)->files.end());
    if (std::find(side.begin(), one, *one) != one) refuse_run((*one)->trace.ranks.front().path);
  }
  if (const std::string twice = read::given_twice(files); !twice.empty()) refuse_run(twice);
}

}  // namespace

Decision gate(const std::vector<const Trace*>& base, const std::vector<const Trace*>& now,
              const Given& given) {
  refuse(base.empty() || now.empty() ? "gate needs a recording on each side" : "");
  std::vector<ParamSpec> specs = {compare::kSkip,
                                  {"fail-on", ParamSpec::Type::texts, "", "", ""},
                                  {"allow-noise", ParamSpec::Type::percentage, "", "", ""}};
  std::ranges::copy(advise::step_params(), std::back_inserter(specs));
  report::Params params = params_of(given, specs);
  std::vector<compare::Limit> limits;
  std::vector<std::string> texts = params.texts("fail-on");
  if (texts.empty()) texts.emplace_back("step.total>5%");
  for (const std::string& text : texts) {
    auto limit = compare::parse_limit(text);
    if (!limit) throw Refusal("UsageError", limit.error().message);
    limits.push_back(std::move(*limit));
  }
  compare::Runs runs[2];
  const std::vector<const Trace*>* sides[2] = {&base, &now};
  for (int i = 0; i < 2; ++i) {
    refuse_repeated(*sides[i]);
    for (const Trace* trace : *sides[i]) {
      refuse_absent_step(*trace, params);
      runs[i].push_back(&trace->trace);
    }
  }
  params.set("threads", std::to_string(base.front()->threads));
  const compare::Gate gate = compare::gate(runs[0], runs[1], limits, params.share("allow-noise"), params);
  if (!gate.wrong.empty()) refuse(gate.wrong.front());
  return {std::string(name_of(gate.outcome())),
          compare::headline(gate),
          {std::make_shared<const report::Report>(compare::as_report(gate, true)), nullptr,
           compare::headline(gate)}};
}

std::vector<std::string> overlay(const Trace& trace, std::size_t rank, const std::vector<std::string>& what,
                                 const Given& given, const std::string& output) {
  const std::string& path = trace.trace.ranks.at(rank).path;
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown))
    refuse(path + ": is not a separate file, so it cannot be copied and drawn into");
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
  if (!file) throw Refusal(file.error());
  const auto overlaid =
      merge::write_overlay(path, sketch.drawing(), {trace.threads, output.ends_with(".gz"), {}},
                           [&](std::string_view bytes) { return file->write(bytes); });
  if (!overlaid) throw Refusal(overlaid.error());
  if (const auto error = file->finish()) throw Refusal(*error);
  if (!overlaid->mended.empty()) sketch.notes.push_back(path + ": " + overlaid->mended);
  if (!overlaid->damage.empty())
    sketch.notes.push_back(path + ": " + overlaid->damage + ". The readable part is in the copy.");
  return std::move(sketch.notes);
}

Page page(const Trace& trace, const Given& given, bool everything) {
  advise::PageOptions options{params_of(given, advise::page_params()), trace.threads, trace.paths,
                              everything};
  refuse_absent_step(trace, options.params);
  return {std::make_shared<const report::Page>(advise::page_of(trace.trace, options))};
}

serve::ReportFileOptions file_options(const advise::PageOptions& options, const std::string& max_size,
                                      const std::string& redact) {
  serve::ReportFileOptions file;
  file.params = options.params;
  file.threads = options.threads;
  file.paths = options.paths;
  const auto size = serve::size_of(max_size);
  if (!size) refuse("max_size: " + size.error().message);
  const auto redaction = serve::redaction_of(redact);
  if (!redaction) refuse(redaction.error().message);
  file.max_size = *size;
  file.redaction = *redaction;
  return file;
}

std::pair<std::string, bool> with_excess(std::string file, const serve::ReportFileOptions& options) {
  const bool exceeds = static_cast<std::int64_t>(file.size()) > options.max_size;
  return {std::move(file), exceeds};
}

std::pair<std::string, bool> report_file(const Trace& trace, const Given& given, const std::string& max_size,
                                         const std::string& redact) {
  const advise::PageOptions options{params_of(given, advise::page_params()), trace.threads, trace.paths,
                                    true};
  refuse_absent_step(trace, options.params);
  const std::shared_ptr<const trace::Trace> held(std::shared_ptr<void>(), &trace.trace);  // by the caller
  const serve::ReportFileOptions file = file_options(options, max_size, redact);
  return with_excess(serve::report_file(held, file), file);
}

}  // namespace stepscope::python
