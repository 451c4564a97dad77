// Time by place in the program: the idle time of devices, or, without a device, all time of the main thread.
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
  between_steps,  ///< a step begins inside the same gap
  after_loading   ///< after a wait for data, before the next launch
};
std::string_view name_of(InLoop where);

/// Time of one cause in one host range. Times in ns within the window; `time` and `per_step` are means over
/// the rank's devices.
struct HostPlace {
  std::int64_t rank;
  derive::IdleCause cause;
  std::string place;   ///< the innermost host range; "" for none
  std::string source;  ///< source line of the longest part
  std::string region;  ///< the outermost user range, excluding step marks
  InLoop where;
  std::int64_t count, time;
  std::int64_t per_step;  ///< report::kNoInt without steps
  std::int64_t longest;
};
extern const report::Sheet<HostPlace> kPlaceSheet;

/// Adds a rank's places, most time first. `steps`: number of complete chosen steps.
void add_idle_places(std::vector<HostPlace>& places, const Derived& derived, const trace::Rank& rank,
                     std::int64_t steps);

/// The same for a rank without device work, over all time of its main thread. A gap is time without
/// operators; `after_loading` lasts until the first operator with a backward pass begins.
void add_host_places(std::vector<HostPlace>& places, const Derived& derived, const trace::Rank& rank,
                     std::int64_t steps);

/// By idle piece of a rank: the host range that most of it was spent in; for launched work its launch call;
/// kNoRow if neither is recorded.
struct IdleHosts {
  std::vector<trace::Row> of_piece;
};
/// Kept by `derived`.
const IdleHosts& idle_hosts(const Derived& derived, const trace::Rank& rank);

}  // namespace stepscope::analyze
