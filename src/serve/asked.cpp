#include "serve/asked.h"

#include <fmt/format.h>

#include <charconv>
#include <span>

#include "serve/address.h"
#include "serve/questions.h"
#include "serve/tables.h"
#include "serve/timeline_routes.h"

namespace stepscope::serve {
namespace {

constexpr RunRoute kRunRoutes[] = {{"report", 0, answer_report},
                                   {"show", 1, answer_show},
                                   {"explain", 1, answer_explain},
                                   {"diff", 0, answer_diff},
                                   {"table", 2, answer_table}};

}  // namespace

Refusal nothing_here() { return {404, "there is nothing at this address", "docs/serve.md lists all."}; }

const RunRoute& route_named(std::string_view name, std::size_t words) {
  for (const std::span<const RunRoute> routes : {std::span<const RunRoute>(kRunRoutes), timeline_routes()})
    for (const RunRoute& route : routes)
      if (route.name == name && route.words == words) return route;
  throw nothing_here();
}

std::string answer_at(const OpenRun& run, const std::string& address) {
  auto parsed = parse_address(address);
  if (!parsed) throw Refusal{400, parsed.error().message};
  const std::vector<std::string>& path = parsed->path;
  const Request request{"GET", address};
  Asked asked{request, nullptr, run, {path.begin() + 1, path.end()}, std::move(parsed->query), ""};
  return route_named(path.front(), path.size() - 1).answer(asked).body;
}

std::size_t number_of(std::string_view text, std::string_view what) {
  std::int32_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0)
    throw Refusal{400, fmt::format("{} needs a whole number, not '{}'", what, text)};
  return static_cast<std::size_t>(number);
}

}  // namespace stepscope::serve
