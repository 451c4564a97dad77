#include "python/files.h"

#include <algorithm>

#include "advise/analyses.h"
#include "advise/ask.h"
#include "advise/validation.h"
#include "merge/merge.h"
#include "merge/strictness.h"
#include "python/ask.h"
#include "read/files.h"
#include "report/formats/csv.h"
#include "report/formats/json.h"
#include "report/suggest.h"
#include "write/events.h"
#include "write/output.h"
#include "write/pfw/pfw.h"
#include "write/query.h"

namespace stepscope::python {
namespace {

using report::ParamSpec;

std::shared_ptr<Table> owned(report::Table table) {
  return std::make_shared<Table>(std::make_shared<const report::Table>(std::move(table)));
}

trace::Kind kind_named(const std::string& name) {
  std::vector<std::string> names;
  for (int i = 0; i < trace::kKinds; ++i) {
    const auto kind = static_cast<trace::Kind>(i);
    names.emplace_back(name_of(kind));
    if (names.back() == name) return kind;
  }
  std::string all;
  for (const std::string& one : names) all += (all.empty() ? "" : ", ") + one;
  throw Refusal("UsageError", "there is no kind '" + name + "'." + report::did_you_mean(name, names) +
                                  " The kinds are " + all + ".");
}

/// Every analysis that `wanted` accepts, to be run when its tables are asked for.
template <class Wanted>
std::vector<write::QueriedReport> reports_of(const Trace& trace, Wanted wanted) {
  std::vector<write::QueriedReport> reports;
  for (const analyze::Analysis& analysis : advise::all_analyses())
    if (analyze::answers_alone(analysis) && wanted(analysis))
      reports.push_back({analysis.name, [&] { return analyze::run(analysis, *trace.derived({}), {}); }});
  return reports;
}

void refuse_error(const std::optional<Error>& error) {
  if (error) throw Refusal(*error);
}

}  // namespace

std::shared_ptr<Table> events(const Trace& trace, std::optional<std::vector<std::int64_t>> ranks,
                              const std::optional<std::string>& steps,
                              const std::optional<std::vector<std::string>>& kinds, std::string name,
                              bool args) {
  if (ranks)
    for (const std::int64_t rank : *ranks) refuse_absent_rank(trace.trace, rank);
  write::EventChoice choice{.ranks = std::move(ranks), .name = std::move(name), .args = args};
  if (kinds) {
    choice.kinds.emplace();
    for (const std::string& kind : *kinds) choice.kinds->push_back(kind_named(kind));
  }
  if (steps) {
    report::Params params;
    refuse(report::misfit({"step", ParamSpec::Type::steps, "", "", ""}, *steps));
    params.set("step", *steps);
    refuse_absent_step(trace, params);
    choice.steps = params.range("step", {0, 0});
  }
  return owned(write::events(trace.trace, choice));
}

std::shared_ptr<Table> sql(const Trace& trace, const std::optional<std::string>& query) {
  const auto reports = reports_of(trace, [](const analyze::Analysis&) { return true; });
  if (!query) return owned(std::move(write::queried_tables(reports).tables.front()));
  auto answers = write::query(trace.trace, reports, *query, {{}, "trace.sql()", {}});
  if (!answers) throw Refusal("UsageError", answers.error().text());
  refuse(answers->size() > 1 ? "sql returns one table, so it takes one query; call it once for each" : "");
  return owned(std::move(answers->front().table));
}

namespace {

/// Of a format that holds tables.
void export_tables(const Trace& trace, const std::string& path, const std::string& format,
                   const std::string& what) {
  const bool events_only = what == "events";
  const analyze::Analysis* analysis = nullptr;
  if (!what.empty() && !events_only) {
    const auto named = advise::analysis_named(what);
    if (!named) throw Refusal("UsageError", named.error().message);
    analysis = *named;
    refuse(advise::unanswerable(*analysis, {}));
  }
  if (format == "sqlite") {
    const auto reports = reports_of(trace, [&](const analyze::Analysis& one) {
      return what.empty() ? one.in_report : analysis != nullptr && one.name == analysis->name;
    });
    return refuse_error(write::export_sqlite(trace.trace, reports, path, analysis != nullptr, {}));
  }
  if (format != "csv" && format != "json")
    throw Refusal("UsageError", "export writes csv, json, sqlite or pfw, not '" + format + "'");
  if (analysis == nullptr) return refuse_error(write::export_events(trace.trace, path, format == "json"));
  const report::Report report = analyze::run(*analysis, *trace.derived({}), {});
  auto output = write::Output::open(path);
  if (!output) throw Refusal(output.error());
  output->write(format == "json" ? report::to_json(report) : report::to_csv(report));
  refuse_error(output->finish());
}

}  // namespace

std::vector<std::string> export_to(const Trace& trace, const std::string& path, const std::string& format,
                                   const std::string& what) {
  if (format != "pfw") {
    export_tables(trace, path, format, what);
    return {};
  }
  refuse(what.empty() ? "" : "a .pfw holds file I/O, ranges and operators: leave out what=");
  auto written = write::export_pfw(trace.trace, path);
  if (!written) throw Refusal(written.error());
  return std::move(written->notes);
}

std::pair<Report, bool> validate(const Trace& trace, bool strict) {
  const auto files = read::files_of(trace.paths, read::kReadable);
  if (!files) throw Refusal(files.error());
  advise::Validation validation =
      advise::validation(trace.trace, merge::breached(*files, trace.threads), false);
  return {{std::make_shared<const report::Report>(std::move(validation.report))},
          strict ? validation.strict : validation.fine};
}

MergedFiles merge(const std::vector<std::string>& paths, const std::string& output, bool align, bool all_runs,
                  std::int64_t run, std::int64_t threads) {
  merge::MergeOptions options;
  options.threads = checked_threads(threads);
  refuse(paths.empty() ? "merge needs files" : merge::ending_refused(output));
  const auto files = read::files_of(paths, read::kMergeable);
  if (!files) throw Refusal(files.error());
  refuse(merge::refused(*files, output));
  options.align = align;
  options.all_runs = all_runs;
  options.run = run;
  auto merged = merge::merge(*files, output, options);
  if (!merged) throw Refusal(merged.error());
  MergedFiles out;
  out.notes = std::move(merged->notes);
  for (const merge::Source& source : merged->sources) {
    (source.foreign ? out.others : out.ranks) += 1;
    out.events += source.found.events;
  }
  return out;
}

}  // namespace stepscope::python
