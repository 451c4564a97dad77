// When a rank communicated, what of it nothing hid, and from where in the program each collective was issued.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "derive/ranks/collective_rows.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::analyze {

class Derived;

/// Where in the program: a module, where none is recorded the innermost op or annotation that does more than
/// communicate, else the op that issued the collective.
struct IssuePlace {
  enum class Kind : std::uint8_t { module, module_backward, op, annotation, not_recorded };
  Kind kind = Kind::not_recorded;
  std::string name = {};  ///< of a module its path
  friend auto operator<=>(const IssuePlace&, const IssuePlace&) = default;
};

struct RankCommunication {
  struct Device {
    std::int64_t id;
    timeline::IntervalSet running;  ///< collectives, in the window
    timeline::IntervalSet exposed;  ///< of that, while no compute ran
  };
  struct Row {
    std::uint32_t device = 0;  ///< in `devices`, kNoDevice: it ran on the host
    std::uint32_t place = 0;   ///< in `places`
  };
  static constexpr std::uint32_t kNoDevice = 0xFFFFFFFF;

  timeline::Interval window;    ///< of the chosen steps
  std::vector<Device> devices;  ///< that communicated
  std::vector<Row> rows;        ///< by collective row
  std::vector<IssuePlace> places;
  bool modules = false;  ///< whether any nn.Module is recorded
};

/// `rows`: the rank's collectives.
RankCommunication rank_communication(const Derived& derived, const trace::Rank& rank,
                                     std::span<const derive::CollectiveRow> rows);

}  // namespace stepscope::analyze
