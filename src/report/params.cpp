#include "report/params.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace stepscope::report {
namespace {

template <class Number>
bool parse(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

bool offered(std::string_view choices, std::string_view value) {
  for (std::size_t at = 0; at <= choices.size();) {
    const std::size_t end = std::min(choices.find('|', at), choices.size());
    if (choices.substr(at, end - at) == value) return true;
    at = end + 1;
  }
  return false;
}

bool parse_range(std::string_view value, std::pair<std::int64_t, std::int64_t>& range) {
  const std::size_t dash = value.find('-');
  auto& [first, last] = range;
  if (!parse(value.substr(0, dash), first)) return false;
  last = first;
  return dash == std::string_view::npos || (parse(value.substr(dash + 1), last) && first <= last);
}

constexpr ParamSpec kCommon[] = {
    {"step", ParamSpec::Type::steps, "", "",
     "only this step (7) or these (7-9), by their numbers in the trace"},
    {"top", ParamSpec::Type::integer, "0", "",
     "keep the first N rows of each table, except curves; 0 keeps all"},
    {"sort", ParamSpec::Type::text, "", "", "sort by this column, largest first"},
};

}  // namespace

std::int64_t Params::integer(std::string_view name, std::int64_t fallback) const {
  const auto found = values_.find(name);
  std::int64_t value = 0;
  return found != values_.end() && parse(found->second, value) ? value : fallback;
}

std::pair<std::int64_t, std::int64_t> Params::range(std::string_view name,
                                                    std::pair<std::int64_t, std::int64_t> fallback) const {
  std::pair<std::int64_t, std::int64_t> range;
  return parse_range(text(name), range) ? range : fallback;
}

double Params::share(std::string_view name, double fallback) const {
  double percent = 0;
  return parse(text(name), percent) && percent >= 0 && percent <= 100 ? percent / 100 : fallback;
}

std::string_view Params::text(std::string_view name, std::string_view fallback) const {
  const auto found = values_.find(name);
  return found != values_.end() ? std::string_view(found->second) : fallback;
}

std::vector<std::string> Params::texts(std::string_view name) const {
  const std::string_view joined = text(name);
  std::vector<std::string> values;
  for (std::size_t at = 0; at < joined.size();) {
    const std::size_t end = std::min(joined.find(';', at), joined.size());
    if (end > at) values.emplace_back(joined.substr(at, end - at));
    at = end + 1;
  }
  return values;
}

std::span<const ParamSpec> common_params() { return kCommon; }

std::string misfit(const ParamSpec& spec, std::string_view value) {
  std::int64_t number = 0;
  if (spec.type == ParamSpec::Type::integer && (!parse(value, number) || number < 0))
    return fmt::format("--{} needs a whole number, not '{}'", spec.name, value);
  double percent = 0;
  if (spec.type == ParamSpec::Type::percentage && !(parse(value, percent) && percent >= 0 && percent <= 100))
    return fmt::format("--{} needs a percentage from 0 to 100, e.g. 0.5, not '{}'", spec.name, value);
  std::pair<std::int64_t, std::int64_t> range;
  if (spec.type == ParamSpec::Type::steps && !parse_range(value, range))
    return fmt::format("--{} needs a number (7) or a range (7-9), not '{}'", spec.name, value);
  if (spec.type == ParamSpec::Type::choice && !offered(spec.choices, value))
    return fmt::format("--{} is one of {}, not '{}'", spec.name, spec.choices, value);
  return "";
}

}  // namespace stepscope::report
