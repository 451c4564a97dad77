#include "lanes/ask/event.h"

#include <fmt/format.h>

#include <algorithm>

#include "lanes/ask/stack.h"
#include "lanes/json.h"

namespace stepscope::lanes {
namespace {

using trace::kNoRow;
using trace::Rank;
using trace::Row;

constexpr std::size_t kMaxLinks = 500;
constexpr std::size_t kMaxArg = 20'000;                 // bytes of an arg's text
constexpr std::int64_t kExact = std::int64_t{1} << 53;  // integers beyond are not exact in JavaScript

/// Its lane, and its row there; null where it is not drawn.
void put_place(Json& json, const Run& run, std::size_t q, Row row) {
  const LaneId lane = run.lanes.of_track[q][run.trace.ranks[q].events.track[row]];
  const std::uint8_t at = run.lanes.place[q][row];
  json.key("lane");
  lane == kNoLane ? json.null() : json.number(lane);
  json.key("row");
  lane == kNoLane || at == kNotDrawn ? json.null() : json.number(std::uint32_t{at});
}

void put_times(Json& json, const Run& run, std::size_t q, Row row) {
  const trace::EventTable& e = run.trace.ranks[q].events;
  json.key("start").number(run.clock.of_rank[q](e.start[row]));
  json.key("end").number(run.clock.of_rank[q](e.end[row]));
}

void put_id(Json& json, std::string_view key, const Rank& rank, Row row) {
  json.key(key);
  row == kNoRow ? json.null() : json.number(rank.events.source[row]);
}

/// The events before and after it in its row.
void put_neighbours(Json& json, const Run& run, std::size_t q, Row row) {
  const Rank& rank = run.trace.ranks[q];
  const LaneId lane = run.lanes.of_track[q][rank.events.track[row]];
  const std::uint8_t at = run.lanes.place[q][row];
  Row previous = kNoRow, next = kNoRow;
  if (lane != kNoLane && at != kNotDrawn) {
    const Column<Row>& rows = run.lanes.all[lane].rows[at].events;
    const auto found = std::lower_bound(rows.begin(), rows.end(), row);
    if (found != rows.begin()) previous = *(found - 1);
    if (found + 1 != rows.end()) next = *(found + 1);
  }
  put_id(json, "previous", rank, previous);
  put_id(json, "next", rank, next);
}

void put_arg(Json& json, const trace::Trace& trace, trace::ArgType type, std::int64_t value) {
  switch (type) {
    case trace::ArgType::integer:
      value > -kExact&& value < kExact ? json.number(value) : json.text(fmt::format("{}", value));
      break;
    case trace::ArgType::real:
      json.real(trace::as_real(value));
      break;
    case trace::ArgType::text:
    case trace::ArgType::raw:
      json.text(shown(trace.text(static_cast<trace::StringId>(value)), kMaxArg));
      break;
  }
}

void put_args(Json& json, const trace::Trace& trace, const Rank& rank, Row row) {
  json.key("args").open('[');
  trace::for_each_arg(trace, rank, row, [&](const trace::ArgField& field, std::int64_t value) {
    json.open('[').text(shown(trace.text(field.key)));
    put_arg(json, trace, field.type, value);
    json.close(']');
  });
  json.close(']');
}

void put_stack(Json& json, const trace::Trace& trace, const Rank& rank, Row row) {
  json.key("stack").open('[');
  for (const Frame& frame : stack_of(trace, rank, row)) {
    json.open('{').key("name").text(shown(frame.name)).key("file");
    frame.file.empty() ? json.null() : json.text(shown(frame.file));
    json.key("line");
    frame.line < 0 ? json.null() : json.number(frame.line);
    json.close('}');
  }
  json.close(']');
}

void put_links(Json& json, const Run& run, const std::vector<Link>& links) {
  json.key("links").open('[');
  const std::size_t listed = std::min(links.size(), kMaxLinks);
  for (std::size_t i = 0; i < listed; ++i) {
    const Link& link = links[i];
    const Rank& rank = run.trace.ranks[link.rank];
    json.open('{').key("what").text(link.what).key("rank").number(number_of(rank));
    put_id(json, "id", rank, link.row);
    put_place(json, run, link.rank, link.row);
    json.key("name").text(shown(run.trace.name(rank, link.row)));
    put_times(json, run, link.rank, link.row);
    json.close('}');
  }
  json.close(']').key("more_links").number(links.size() - listed);
}

void put_head(Json& json, const Run& run, std::size_t q, Row row) {
  const Rank& rank = run.trace.ranks[q];
  const trace::EventTable& e = rank.events;
  json.key("rank").number(number_of(rank));
  put_id(json, "id", rank, row);
  put_place(json, run, q, row);
  json.key("name").text(shown(run.trace.name(rank, row)));
  json.key("kind").text(name_of(e.kind[row]));
  json.key("category").text(shown(run.trace.text(e.category[row])));
  put_times(json, run, q, row);
  const std::int32_t step = e.step[row];
  json.key("step");
  if (step >= 0 && rank.steps[static_cast<std::size_t>(step)].counts())
    json.number(rank.steps[static_cast<std::size_t>(step)].number);
  else
    json.null();
  put_id(json, "parent", rank, e.parent[row]);
  put_neighbours(json, run, q, row);
}

std::string json_of(const Run& run, const Links& links, std::size_t q, Row row) {
  const Rank& rank = run.trace.ranks[q];
  Json json;
  json.open('{');
  put_head(json, run, q, row);
  put_args(json, run.trace, rank, row);
  put_stack(json, run.trace, rank, row);
  put_links(json, run, links.of(q, row));
  return json.close('}').take();
}

}  // namespace

Result<std::string> event_json(const Run& run, const Links& links, std::int64_t number, std::int64_t id) {
  for (std::size_t q = 0; q < run.trace.ranks.size(); ++q) {
    if (number_of(run.trace.ranks[q]) != number) continue;
    const Column<std::uint32_t>& ids = run.trace.ranks[q].events.source;
    const auto found = std::find(ids.begin(), ids.end(), id);
    if (found == ids.end()) return Error{fmt::format("Rank {} has no event {}.", number, id), "", -1};
    return json_of(run, links, q, static_cast<Row>(found - ids.begin()));
  }
  return Error{fmt::format("This run has no rank {}.", number), "", -1};
}

}  // namespace stepscope::lanes
