#include "python/by_rank.h"

#include <algorithm>
#include <optional>
#include <span>

#include "advise/ask.h"
#include "advise/by_rank.h"
#include "advise/page.h"
#include "python/ask.h"

namespace stepscope::python {
namespace {

read::OpenOptions options_of(unsigned threads, std::int64_t run) {
  read::OpenOptions options;
  options.threads = threads;
  options.run = run;
  return options;
}

/// `compared`: with what comparing ranks needs, for which the files are read once more.
advise::RankByRank ranks_of(const RankFolder& folder, const report::Params& params, bool compared) {
  std::vector<analyze::RankDigest> digests;
  if (compared) {
    advise::Digests collected(params);
    const auto again =
        folder.files.visit(options_of(folder.threads, folder.run),
                           [&](const trace::Trace& one, std::size_t rank) { collected.add(one, rank); });
    if (!again) throw Refusal(again.error());
    std::vector<std::size_t> places;
    for (std::size_t rank = 0; rank < folder.heads().ranks.size(); ++rank) places.push_back(rank);
    digests = collected.at(places);
  }
  return {folder.heads(), std::move(digests),
          [&](const auto& look) { return folder.files.visit(options_of(folder.threads, folder.run), look); }};
}

void refuse_absent_step(const RankFolder& folder, const report::Params& params) {
  if (params.has("step")) refuse(analyze::absent_step(folder.heads(), params));
}

}  // namespace

std::shared_ptr<RankFolder> open_by_rank(std::vector<std::string> paths, std::int64_t threads,
                                         std::int64_t run) {
  const unsigned most = checked_threads(threads);
  auto files = read::RankFiles::survey(paths, options_of(most, run), [](const trace::Trace&, std::size_t) {});
  if (!files) throw Refusal(files.error());
  std::vector<std::string> inputs = input_files(paths);
  return std::make_shared<RankFolder>(
      RankFolder{std::move(*files), std::move(paths), std::move(inputs), most, run});
}

Report analyze(const RankFolder& folder, const std::string& name, const Given& given) {
  const auto analysis = advise::analysis_named(name);
  if (!analysis) throw Refusal("UsageError", analysis.error().message);
  const analyze::Analysis& asked = **analysis;
  Given rest = given;
  const std::optional<std::int64_t> rank = take_rank(folder.heads(), rest, asked);
  report::Params params = params_of(rest, advise::with_common(asked.params));
  refuse(advise::unanswerable(asked, params));
  refuse_absent_step(folder, params);
  if (asked.needs == analyze::Needs::all_ranks || analyze::tool_asked(asked, params))
    refuse("'" + name + "' needs the events of all ranks together: open the trace without by_rank");
  params.set("threads", std::to_string(folder.threads));
  const bool compares = asked.needs == analyze::Needs::digests || advise::asks_findings(asked, params);
  auto answer = advise::ask(ranks_of(folder, params, compares), asked, params, rank);
  if (!answer) throw Refusal(answer.error());
  return finished(asked, params, std::move(*answer));
}

Page page(const RankFolder& folder, const Given& given, bool everything) {
  advise::PageOptions options{params_of(given, advise::page_params()), folder.threads, folder.paths,
                              everything};
  refuse_absent_step(folder, options.params);
  auto page = advise::page_of(ranks_of(folder, options.params, true), options);
  if (!page) throw Refusal(page.error());
  return {std::make_shared<const report::Page>(std::move(*page))};
}

std::pair<std::string, bool> report_file(const RankFolder& folder, const Given& given,
                                         const std::string& max_size, const std::string& redact) {
  const advise::PageOptions options{params_of(given, advise::page_params()), folder.threads, folder.paths,
                                    true};
  const serve::ReportFileOptions file = file_options(options, max_size, redact);
  return with_excess(serve::report_file(*page(folder, given, true).page, folder.heads(), file), file);
}

}  // namespace stepscope::python
