// Idle time by the host's place in the program, from `idle`. For a rank without a device: all time of its
// main thread, from `host_time`.
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
  /// "train.py:36 (step)", else the name of the range; "" for none.
  std::string spoken() const;
};

/// The rank's places that `wanted` accepts, most time first.
std::vector<Place> places_of(const Evidence& evidence, const std::function<bool(const Place&)>& wanted);

/// Sum over the places, ns in the window.
std::int64_t time_of(const std::vector<Place>& places);

/// Whether a rule of its own covers a loop: optimizer, zero_grad, buckets and broadcasts of data parallelism,
/// a loader's workers.
bool has_own_rule(std::string_view unit, std::string_view parent, std::string_view region);

/// "train.py(36): f" as "train.py:36 (f)"; anything else as it is.
std::string placed(std::string_view source);

}  // namespace stepscope::advise
