#include "serve/timeline_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include "analyze/idle/idle_places.h"
#include "analyze/path/critical_path.h"
#include "lanes/ask/drawn.h"
#include "lanes/timeline.h"
#include "report/formats/json.h"
#include "report/statistics.h"
#include "report/units.h"
#include "serve/address.h"

namespace stepscope::serve {
namespace {

std::int64_t integer_of(std::string_view text, std::string_view what) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size())
    throw Refusal{400, fmt::format("{} needs a whole number, not '{}'", what, text)};
  return number;
}

std::int64_t take_integer(Asked& asked, std::string_view name, std::string_view fallback = "") {
  return integer_of(take(asked.query, name, fallback), name);
}

std::uint32_t take_index(Asked& asked, std::string_view name, std::string_view fallback = "") {
  return static_cast<std::uint32_t>(number_of(take(asked.query, name, fallback), name));
}

/// "0,1,9"; "" names none.
std::vector<std::uint32_t> take_list(Asked& asked, std::string_view name) {
  const std::string text = take(asked.query, name);
  std::vector<std::uint32_t> numbers;
  for (std::size_t from = 0; !text.empty() && from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    numbers.push_back(static_cast<std::uint32_t>(number_of(text.substr(from, to - from), name)));
    if (numbers.size() > lanes::kMaxAsked)
      throw Refusal{400, fmt::format("{} may name {} at most", name, lanes::kMaxAsked)};
    from = to + 1;
  }
  return numbers;
}

void refuse_others(const Asked& asked) {
  if (!asked.query.empty())
    throw Refusal{400, fmt::format("'{}' is no parameter of this address", asked.query.front().first),
                  "docs/serve.md lists all."};
}

template <class Value>
Value value_of(Result<Value> result, int status = 400) {
  if (!result) throw Refusal{status, result.error().message};
  return std::move(*result);
}

Response binary(std::string body) {
  Response response;
  response.type = "application/octet-stream";
  response.body = std::move(body);
  return response;
}

const lanes::Timeline& timeline_of(Asked& asked) {
  refuse_others(asked);
  return asked.run.timeline();
}

Response answer_timeline(Asked& asked) { return json(timeline_of(asked).summary()); }

Response answer_names(Asked& asked) {
  return json(value_of(timeline_of(asked).names(integer_of(asked.words.front(), "the block")), 404));
}

Response answer_tiles(Asked& asked) {
  const std::int64_t level = take_integer(asked, "level"), tile = take_integer(asked, "tile");
  const std::vector<std::uint32_t> lanes = take_list(asked, "lanes");
  return binary(value_of(timeline_of(asked).tiles(level, tile, lanes)));
}

Response answer_counters(Asked& asked) {
  const std::int64_t level = take_integer(asked, "level"), tile = take_integer(asked, "tile");
  const std::vector<std::uint32_t> counters = take_list(asked, "counters");
  return binary(value_of(timeline_of(asked).counters(level, tile, counters)));
}

Response answer_search(Asked& asked) {
  const std::string text = take(asked.query, "q"), after = take(asked.query, "after"),
                    before = take(asked.query, "before");
  if (!after.empty() && !before.empty())
    throw Refusal{400, "a search goes on from 'after' or from 'before', not both"};
  lanes::Query query{text, {}, {}};
  const lanes::Place place{0, take_index(asked, "lane", "0"), take_index(asked, "row", "0")};
  const auto at = [&](const std::string& time, std::string_view name) {
    return lanes::Place{integer_of(time, name), place.lane, place.row};
  };
  if (!after.empty()) query.after = at(after, "after");
  if (!before.empty()) query.before = at(before, "before");
  return json(value_of(timeline_of(asked).search(query)));
}

Response answer_event(Asked& asked) {
  const std::int64_t rank = take_integer(asked, "rank"), id = take_integer(asked, "id");
  return json(value_of(timeline_of(asked).event(rank, id), 404));
}

Response answer_area(Asked& asked) {
  const std::int64_t from = take_integer(asked, "from"), to = take_integer(asked, "to");
  const std::vector<std::uint32_t> lanes = take_list(asked, "lanes");
  return json(report::to_json(value_of(timeline_of(asked).area(from, to, lanes))));
}

/// "from" and "to", or neither.
std::optional<timeline::Interval> take_span(Asked& asked) {
  const std::string from = take(asked.query, "from"), to = take(asked.query, "to");
  if (from.empty() && to.empty()) return {};
  return timeline::Interval{integer_of(from, "from"), integer_of(to, "to")};
}

std::size_t take_rank(Asked& asked) {
  const std::int64_t number = take_integer(asked, "rank");
  const std::vector<trace::Rank>& ranks = asked.run.trace().ranks;
  const auto found =
      std::ranges::find_if(ranks, [&](const trace::Rank& rank) { return lanes::number_of(rank) == number; });
  if (found == ranks.end()) throw Refusal{400, fmt::format("This run has no rank {}.", number)};
  return static_cast<std::size_t>(found - ranks.begin());
}

/// nullptr without "step".
const trace::Step* take_step(Asked& asked, const trace::Rank& rank) {
  const std::string text = take(asked.query, "step");
  if (text.empty()) return nullptr;
  const std::int64_t number = integer_of(text, "step");
  for (const trace::Step& step : rank.steps)
    if (step.counts() && step.number == number) return &step;
  throw Refusal{400, fmt::format("Rank {} has no step {}.", lanes::number_of(rank), number)};
}

/// Says why a path is not as long as its step.
void note_other_length(lanes::DrawnPath& path, std::int64_t step) {
  constexpr double kAlike = 0.1;  // of the step
  const double difference = report::ratio(path.time - step, step);
  if (std::abs(difference) <= kAlike) return;
  const std::string length = report::format_value(step, report::Unit::ns);
  path.notes.push_back(
      difference < 0
          ? fmt::format(
                "The step takes {}: a path has no time in which no operator runs, such as waiting for data.",
                length)
          : fmt::format(
                "The step takes {} on the host: its work waits behind that of earlier steps on the device.",
                length));
}

lanes::DrawnPath drawn_path(const trace::Trace& trace, std::size_t q, const trace::Step* step) {
  const trace::Rank& rank = trace.ranks[q];
  analyze::StepPath path = analyze::path_of_step(trace, rank, step);
  lanes::DrawnPath out{q, {}, path.time, {}, {}, std::move(path.notes)};
  if (step != nullptr) {
    out.step = step->number;
    note_other_length(out, step->end - step->start);
  }
  for (const analyze::PathBound& bound : path.bounds)
    out.kinds.push_back({bound.bound_by, analyze::meaning_of_bound(bound.bound_by), bound.time, bound.share});
  const std::int64_t origin = analyze::origin_of(rank);
  for (const analyze::PathStretch& stretch : path.stretches)
    out.parts.push_back({{origin + stretch.start, origin + stretch.end},
                         stretch.time,
                         stretch.bound_by.empty() ? name_of(stretch.type) : stretch.bound_by,
                         stretch.row});
  return out;
}

Response answer_path(Asked& asked) {
  const std::size_t q = take_rank(asked);
  const trace::Trace& trace = asked.run.trace();
  const trace::Rank& rank = trace.ranks[q];
  const trace::Step* step = take_step(asked, rank);
  const auto span = take_span(asked);
  const lanes::Timeline& timeline = timeline_of(asked);
  stop_if_gone(asked.request);
  const auto path = asked.run.path(fmt::format("{} {}", q, step == nullptr ? -1 : step - rank.steps.data()),
                                   [&] { return drawn_path(trace, q, step); });
  return json(value_of(timeline.path(*path, span)));
}

Response answer_idle(Asked& asked) {
  const auto span = take_span(asked);
  const lanes::Timeline& timeline = timeline_of(asked);
  const trace::Trace& trace = asked.run.trace();
  const auto derived = asked.run.derived({});
  lanes::DrawnIdle idle;
  bool has_device = false;
  for (std::size_t q = 0; q < trace.ranks.size(); ++q) {
    stop_if_gone(asked.request);
    const trace::Rank& rank = trace.ranks[q];
    idle.ranks.push_back(
        {q, &derived->busy(rank), &derived->idle(rank), &analyze::idle_hosts(*derived, rank).of_piece});
    has_device |= !derived->busy(rank).empty();
    analyze::note_whole_gaps(idle.notes, *derived, rank);
  }
  if (!has_device) idle.notes.emplace_back(analyze::kNoDeviceNote);
  return json(value_of(timeline.idle(idle, span)));
}

constexpr RunRoute kRoutes[] = {
    {"timeline", 0, answer_timeline}, {"names", 1, answer_names},   {"tiles", 0, answer_tiles},
    {"counters", 0, answer_counters}, {"search", 0, answer_search}, {"event", 0, answer_event},
    {"area", 0, answer_area},         {"path", 0, answer_path},     {"idle", 0, answer_idle}};

}  // namespace

std::span<const RunRoute> timeline_routes() { return kRoutes; }

}  // namespace stepscope::serve
