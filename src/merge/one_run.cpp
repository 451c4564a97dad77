#include "merge/one_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "read/runs.h"

namespace stepscope::merge {
namespace {

constexpr std::string_view kForce = "--all-runs merges it all the same";

/// The name by which opening the source's file knows its rank.
std::string rank_path(const Source& source) {
  return source.section < 0 ? source.path : source.path + "/" + source.name;
}

/// The process id of the source's first lane.
std::string process_of(const Source& source) {
  const auto& lanes = source.found.lanes;
  const auto first = std::min_element(lanes.begin(), lanes.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  return first == lanes.end() ? "" : ident_of(first->first.substr(0, first->first.find(kBetween)));
}

/// What tells runs apart.
trace::Rank rank_of(const Source& source) {
  trace::Rank rank;
  rank.path = rank_path(source);
  rank.rank = source.rank;
  rank.base_ns = source.base_ns;
  rank.first_start = source.found.first_time;
  rank.last_end = source.found.last_end();
  rank.process = process_of(source);
  rank.reading.events = source.found.events;
  return rank;
}

void leave_out(std::vector<Source>& sources, const std::set<std::string>& paths, std::string_view why,
               std::vector<std::string>& notes) {
  std::erase_if(sources, [&](const Source& source) {
    if (source.foreign || !paths.contains(rank_path(source))) return false;
    notes.push_back(fmt::format("Not merged: {}: {}; {}.", rank_path(source), why, kForce));
    return true;
  });
}

/// When a rank recorded, on the common time line.
struct Recorded {
  const Source* source;
  std::int64_t first, last;
};

/// Ranks with a number and an absolute clock, by their first events.
std::vector<Recorded> spans_of(const std::vector<Source>& sources) {
  std::vector<Recorded> spans;
  for (const Source& source : sources)
    if (!source.foreign && source.rank >= 0 && !source.relative() &&
        source.found.first_time != trace::kNoTime)
      spans.push_back({&source, source.place(source.base_ns + source.found.first_time),
                       source.place(source.base_ns + source.found.last_end())});
  std::sort(spans.begin(), spans.end(),
            [](const Recorded& a, const Recorded& b) { return a.first < b.first; });
  return spans;
}

/// Groups in the order of time, between which nothing was recorded.
std::vector<std::vector<Recorded>> groups_of(const std::vector<Recorded>& spans) {
  std::vector<std::vector<Recorded>> groups;
  std::int64_t last = 0;
  for (const Recorded& span : spans) {
    if (groups.empty() || span.first > last) groups.emplace_back();
    last = groups.back().empty() ? span.last : std::max(last, span.last);
    groups.back().push_back(span);
  }
  return groups;
}

}  // namespace

std::optional<Error> keep_one_run(std::vector<Source>& sources, std::int64_t wanted,
                                  std::vector<std::string>& notes) {
  trace::Trace heads;
  std::set<std::string> left;
  for (const Source& source : sources)
    if (!source.foreign) {
      heads.ranks.push_back(rank_of(source));
      left.insert(rank_path(source));
    }
  if (heads.ranks.empty()) return std::nullopt;
  if (auto error = read::choose_run(heads, wanted)) return error;
  for (const trace::Rank& rank : heads.ranks) left.erase(rank.path);
  for (std::string& note : heads.notes) notes.push_back(std::move(note));
  leave_out(sources, left, "is of another run, or repeats a rank", notes);
  return std::nullopt;
}

void leave_ranks_apart(std::vector<Source>& sources, std::vector<std::string>& notes) {
  const auto groups = groups_of(spans_of(sources));
  if (groups.size() < 2) return;
  const auto most = std::max_element(groups.rbegin(), groups.rend(),
                                     [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::set<std::string> left;
  for (const auto& group : groups)
    for (const Recorded& span : group)
      if (&group != &*most && span.source->place.method == Placement::Method::wall_clock)
        left.insert(rank_path(*span.source));
  leave_out(sources, left,
            "recorded at another time than the other ranks, with which it shares no collective", notes);
}

}  // namespace stepscope::merge
