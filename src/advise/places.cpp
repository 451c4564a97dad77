#include "advise/places.h"

#include <fmt/format.h>

#include "advise/rules/on_cpu.h"
#include "report/names.h"
#include "report/statistics.h"

namespace stepscope::advise {

std::string placed(std::string_view source) {
  const std::size_t open = source.rfind('('), close = source.find("): ", open);
  if (open == std::string_view::npos || close == std::string_view::npos) return std::string(source);
  return fmt::format("{}:{} ({})", source.substr(0, open), source.substr(open + 1, close - open - 1),
                     source.substr(close + 3));
}

std::string Place::spoken() const { return source.empty() ? report::short_name(place, 60) : placed(source); }

std::vector<Place> places_of(const Evidence& e, const std::function<bool(const Place&)>& wanted) {
  std::vector<Place> places;
  const auto add = [&](const std::vector<analyze::HostPlace>& all, const char* name) {
    for (const analyze::HostPlace* own : e.mine(all, name))
      if (Place place{*own}; wanted(place)) places.push_back(std::move(place));
  };
  add(e.reports().idle.places, "Idle time by place");
  if (computes_on_cpu(e)) add(e.reports().host_time.places, "Host time by place");
  return places;
}

bool has_own_rule(std::string_view unit, std::string_view parent, std::string_view region) {
  const auto holds = [](std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
  };
  return region.starts_with("Optimizer.") || region.starts_with("DataLoader.") ||
         holds(parent, "Optimizer.") || holds(parent, "DataParallel.forward") || holds(unit, "c10d::") ||
         holds(unit, "ddp.reducer") || holds(unit, "nccl:");
}

std::int64_t time_of(const std::vector<Place>& places) {
  std::int64_t sum = 0;
  for (const Place& place : places) report::add_to(sum, place.time);
  return sum;
}

}  // namespace stepscope::advise
