#include "cli/by_rank.h"

#include <mutex>
#include <utility>

#include "analyze/derived.h"
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
  std::mutex mutex;
  std::vector<analyze::RankDigest> by_place;
  const auto look = [&](const trace::Trace& one, std::size_t place) {
    if (!digests) return;
    const analyze::Derived derived(one, call.params);
    analyze::RankDigest digest = analyze::digest_of(derived, one.ranks.front());
    const std::lock_guard lock(mutex);
    if (by_place.size() <= place) by_place.resize(place + 1);
    by_place[place] = std::move(digest);
  };
  Progress progress(shows_progress(call));
  auto files = read::RankFiles::survey(call.words, open_options(call, progress), look);
  if (!files) return files.error();
  const std::string absent = analyze::absent_step(files->heads(), call.params);
  if (!absent.empty() && call.params.has("step"))
    return Error{absent, call.words.size() == 1 ? call.words[0] : ""};
  Survey survey(call, std::move(*files));
  if (digests)
    for (std::size_t rank = 0; rank < survey.files_.heads().ranks.size(); ++rank)
      survey.digests_.push_back(std::move(by_place[survey.files_.place(rank)]));
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
