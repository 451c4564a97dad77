#include "serve/timeline_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "lanes/timeline.h"
#include "report/formats/json.h"
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

constexpr RunRoute kRoutes[] = {{"timeline", 0, answer_timeline}, {"names", 1, answer_names},
                                {"tiles", 0, answer_tiles},       {"counters", 0, answer_counters},
                                {"search", 0, answer_search},     {"event", 0, answer_event},
                                {"area", 0, answer_area}};

}  // namespace

std::span<const RunRoute> timeline_routes() { return kRoutes; }

}  // namespace stepscope::serve
