#include "merge/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "derive/ranks/clock_alignment.h"
#include "read/open.h"

namespace stepscope::merge {
namespace {

using derive::ClockState;

std::int64_t first_of(const Source& source) { return source.base_ns + source.found.first_time; }

/// The ranks' collectives; each rank's trace is freed before the next file is read.
struct Collectives {
  derive::GroupNames groups;
  std::vector<std::vector<derive::CollectiveRow>> rows;
  std::vector<std::size_t> sources;  ///< the source of each entry of `rows`
};

/// The source that rank `path` of an opened file is.
std::optional<std::size_t> source_at(const std::vector<Source>& sources, const std::string& path) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Source& s = sources[i];
    if ((s.section < 0 ? s.path : s.path + "/" + s.name) == path) return i;
  }
  return std::nullopt;
}

Collectives collectives_of(const std::vector<Source>& sources, const PlaceOptions& options) {
  Collectives out;
  std::string opened;
  for (const Source& source : sources) {
    if (source.foreign || source.path == opened) continue;
    opened = source.path;
    if (options.progress) options.progress("looking for collectives in " + opened);
    const auto trace = read::open({&opened, 1}, {.threads = options.threads, .progress = {}});
    if (!trace) continue;
    for (const trace::Rank& rank : trace->ranks)
      if (const auto index = source_at(sources, rank.path)) {
        out.rows.push_back(derive::collective_rows(*trace, rank, out.groups));
        out.sources.push_back(*index);
      }
  }
  return out;
}

/// Sources of an earlier merge keep their times; the others are shifted to them.
void bring_to_merged(std::vector<Source>& sources, const derive::Alignment& alignment,
                     const Collectives& collectives) {
  double sum = 0;
  int count = 0;
  for (std::size_t q = 0; q < alignment.clocks.size(); ++q) {
    if (sources[collectives.sources[q]].section < 0 || alignment.clocks[q].state == ClockState::apart)
      continue;
    const derive::ClockMap& map = alignment.clocks[q].fit.map;
    sum += static_cast<double>(map.shift) + map.offset;
    ++count;
  }
  for (const std::size_t i : collectives.sources)
    if (count > 0 && sources[i].place.method == Placement::Method::collectives)
      sources[i].place.map.shift -= std::llround(sum / count);
}

/// Notes the ranks whose drift was dropped.
void note_drift(const std::vector<Source>& sources, std::vector<std::string>& notes) {
  constexpr double kShown = 0.05e-6;
  std::int64_t aligned = 0, count = 0;
  const Source* most = nullptr;
  for (const Source& source : sources) {
    aligned += source.place.method == Placement::Method::collectives;
    if (std::abs(source.place.drift_left) < kShown) continue;
    ++count;
    if (most == nullptr || std::abs(source.place.drift_left) > std::abs(most->place.drift_left))
      most = &source;
  }
  if (most != nullptr)
    notes.push_back(
        fmt::format("Clock drifts within their fit's error were not corrected: {} of {} clocks, the most "
                    "on rank {}, {:+.1f} ppm.",
                    count, aligned, most->rank, most->place.drift_left * 1e6));
}

void align(std::vector<Source>& sources, const PlaceOptions& options, std::vector<std::string>& notes) {
  Collectives collectives = collectives_of(sources, options);
  const derive::Alignment alignment =
      derive::align_clocks(derive::matched(std::move(collectives.groups), std::move(collectives.rows)));
  for (std::size_t q = 0; q < alignment.clocks.size(); ++q) {
    Source& source = sources[collectives.sources[q]];
    const derive::RankClock& clock = alignment.clocks[q];
    if (source.section >= 0) continue;
    if (clock.state == ClockState::apart) {
      notes.push_back(fmt::format("rank {} keeps its own clock: {}.", source.rank, clock.why));
      continue;
    }
    source.place.method = Placement::Method::collectives;
    source.place.map = clock.fit.steady_map();
    source.place.uncertainty = clock.fit.uncertainty_edge;
    source.place.drift_left = clock.fit.map.drift - source.place.map.drift;
  }
  note_drift(sources, notes);
  bring_to_merged(sources, alignment, collectives);
}

const Source* rank_source(const std::vector<Source>& sources, std::int64_t rank) {
  for (const Source& source : sources)
    if (!source.foreign && rank >= 0 && source.rank == rank) return &source;
  return nullptr;
}

/// A foreign source runs on the clock of the rank that it belongs to.
void join(std::vector<Source>& sources, bool align) {
  for (Source& source : sources) {
    const Source* rank = source.foreign && source.section < 0 ? rank_source(sources, source.rank) : nullptr;
    if (rank == nullptr || source.relative() || !align) continue;
    source.place.method = Placement::Method::joined;
    source.place.map = rank->place.map;
    source.place.uncertainty = rank->place.uncertainty;
    source.place.drift_left = rank->place.drift_left;
  }
}

/// Puts the first event of a source with relative times at the start of its rank's recording, or else of
/// the earliest one.
void place_relative(std::vector<Source>& sources, std::vector<std::string>& notes) {
  std::int64_t first = trace::kNoTime;
  for (const Source& source : sources)
    if (!source.relative() && source.found.first_time != trace::kNoTime)
      first = first == trace::kNoTime ? source.place(first_of(source))
                                      : std::min(first, source.place(first_of(source)));
  for (Source& source : sources) {
    if (!source.relative() || first == trace::kNoTime) continue;
    const Source* rank = source.foreign ? rank_source(sources, source.rank) : nullptr;
    const bool own = rank != nullptr && !rank->relative();
    source.place.method = Placement::Method::start;
    source.place.map = {};
    source.place.map.shift = first_of(source) - (own ? rank->place(first_of(*rank)) : first);
    notes.push_back(source.name + ": its times are relative; its first event was put at the start of " +
                    (own ? fmt::format("rank {}.", source.rank) : "the time line."));
  }
}

}  // namespace

std::vector<std::string> place_sources(std::vector<Source>& sources, const PlaceOptions& options) {
  std::vector<std::string> notes;
  const auto ranks =
      std::count_if(sources.begin(), sources.end(), [](const Source& s) { return !s.foreign; });
  const bool any_new = std::any_of(sources.begin(), sources.end(),
                                   [](const Source& s) { return !s.foreign && s.section < 0; });
  if (options.align && ranks > 1 && any_new) align(sources, options, notes);
  join(sources, options.align);
  place_relative(sources, notes);
  return notes;
}

void note_distance(const std::vector<Source>& sources, std::vector<std::string>& notes) {
  constexpr std::int64_t kDay = 86'400'000'000'000;
  const Source* first = nullptr;
  for (const Source& source : sources) {
    if (source.found.first_time == trace::kNoTime) continue;
    if (first == nullptr) first = &source;
    const std::int64_t days = (source.place(first_of(source)) - first->place(first_of(*first))) / kDay;
    const bool moved = source.place.method == Placement::Method::collectives && !first->relative();
    const std::int64_t by = moved ? (first_of(source) - first_of(*first)) : 0;
    if (days != 0)
      notes.push_back(fmt::format("{} was recorded {} days {} {}; check that both are of one job.",
                                  source.name, std::abs(days), days > 0 ? "after" : "before", first->name));
    else if (std::abs(by) >= kDay)
      notes.push_back(fmt::format(
          "By its clock, {0} was recorded about {1} days {2} {3}. It was put beside {3}, as their "
          "collectives match; check that both are of one job.",
          source.name, (std::abs(by) + kDay / 2) / kDay, by > 0 ? "after" : "before", first->name));
  }
}

std::int64_t base_of(const std::vector<Source>& sources) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::int64_t first = trace::kNoTime;
  for (const Source& source : sources) {
    if (source.found.first_time == trace::kNoTime) continue;
    const std::int64_t at = source.place(first_of(source));
    first = first == trace::kNoTime ? at : std::min(first, at);
  }
  return first == trace::kNoTime ? 0 : first / kSecond * kSecond;
}

}  // namespace stepscope::merge
