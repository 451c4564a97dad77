// Host time by the place in the program: idle time of devices, or all time of a main thread without one.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/idle/idle_cause.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// Where in the training loop a piece of time lies.
enum class InLoop : std::uint8_t {
  in_step,
  between_steps,  ///< a step begins inside its gap
  after_loading   ///< behind a wait for data, and nothing was launched since
};
std::string_view name_of(InLoop where);

/// Time of one cause in one host range. Times in ns of the window, means over the rank's devices.
struct HostPlace {
  std::int64_t rank;
  derive::IdleCause cause;
  std::string place;   ///< the innermost host range; "" for none
  std::string source;  ///< the line behind the longest part
  std::string region;  ///< the outermost user range, step marks aside
  InLoop where;
  std::int64_t count, time;
  std::int64_t per_step;  ///< report::kNoInt without steps
  std::int64_t longest;
};
extern const report::Sheet<HostPlace> kPlaceSheet;

/// Adds a rank's places, most time first. `steps`: complete ones chosen.
void add_idle_places(std::vector<HostPlace>& places, const Derived& derived, const trace::Rank& rank,
                     std::int64_t steps);

/// The same of a rank without device work: all time of its main thread. A gap is time without operators;
/// `after_loading` lasts until an operator begins that has a backward pass.
void add_host_places(std::vector<HostPlace>& places, const Derived& derived, const trace::Rank& rank,
                     std::int64_t steps);

}  // namespace stepscope::analyze
