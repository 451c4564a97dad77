// Which part of a training or inference step the program was in at each instant.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// If several hold at one instant, the first in this order counts.
enum class Phase : std::uint8_t {
  data,       ///< the program waits for a data loader
  backward,   ///< from the first to the last of autograd's nodes in one backward pass, and while the program
              ///< waits for collectives that it began
  optimizer,  ///< the optimizer's step() and zero_grad()
  forward,    ///< from the first operator that the backward pass goes through, or the call of the module
              ///< which it is in, until that pass begins; in a program without backward passes: its modules
              ///< and operators
  other       ///< everything else: the program's own code
};
inline constexpr std::size_t kPhases = 5;
std::string_view name_of(Phase phase);

/// By Phase, its times in `window`. They do not overlap, and their lengths add up to the window's.
/// O(n log n) in host rows.
using PhaseTimes = std::array<timeline::IntervalSet, kPhases>;
PhaseTimes phase_times(const trace::Trace& trace, const trace::Rank& rank, timeline::Interval window);

/// Whether a Python frame is PyTorch's call of a backward pass.
bool is_backward_call(std::string_view frame);

/// Looks phases up by time. O(log n) each.
class PhaseAt {
 public:
  explicit PhaseAt(const PhaseTimes& times);
  /// `other` outside the window.
  Phase operator()(timeline::Time time) const;

 private:
  struct Begin {
    timeline::Time at;
    Phase phase;
  };
  Column<Begin> begins_;
};

}  // namespace stepscope::derive
