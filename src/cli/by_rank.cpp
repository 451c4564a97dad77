#include "cli/by_rank.h"

#include <utility>

#include "cli/present.h"
#include "cli/progress.h"

namespace stepscope::cli {
namespace {

constexpr std::int64_t kHeldTogether = std::int64_t{1} << 30;  // max text in bytes; events take about half

}  // namespace

bool asks_by_rank(const Call& call) {
  const read::Extent extent = read::extent_of(call.words);
  return extent.files > 1 && (call.params.flag("by-rank") || extent.text > kHeldTogether);
}

Result<Survey> Survey::of(const Call& call, bool digests) {
  advise::Digests collected(call.params);
  const auto look = [&](const trace::Trace& one, std::size_t place) {
    if (digests) collected.add(one, place);
  };
  Progress progress(shows_progress(call));
  auto files = read::RankFiles::survey(call.words, open_options(call, progress), look);
  if (!files) return files.error();
  const std::string absent = analyze::absent_step(files->heads(), call.params);
  if (!absent.empty() && call.params.has("step"))
    return Error{absent, call.words.size() == 1 ? call.words[0] : ""};
  Survey survey(call, std::move(*files));
  if (digests) survey.digests_ = collected.at(survey.files_.places());
  return survey;
}

advise::RankByRank Survey::ranks() {
  const auto visit = [this](const auto& look) {
    Progress progress(shows_progress(*call_));
    return files_.visit(open_options(*call_, progress), look);
  };
  return {files_.heads(), std::move(digests_), visit};
}

}  // namespace stepscope::cli
