// Idle time by the place in the program where the host was, as `idle` has it; of a rank without a device all
// time of its main thread, as `host_time` has it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/evidence.h"

namespace stepscope::advise {

struct Place : analyze::HostPlace {
  bool between_steps() const { return where == analyze::InLoop::between_steps; }
  bool after_loading() const { return where == analyze::InLoop::after_loading; }
  /// "train.py:36 (step)", or what the range is called; "" for none.
  std::string spoken() const;
};

/// The rank's places that `wanted` takes, most time first.
std::vector<Place> places_of(const Evidence& evidence, const std::function<bool(const Place&)>& wanted);

/// Of all places together, ns of the window.
std::int64_t time_of(const std::vector<Place>& places);

/// Loops that have rules of their own: the optimizer's, zero_grad's, buckets and broadcasts of data
/// parallelism.
bool has_own_rule(std::string_view unit, std::string_view parent, std::string_view region);

/// "train.py(36): f" as "train.py:36 (f)"; anything else as it is.
std::string placed(std::string_view source);

}  // namespace stepscope::advise
