// When a rank communicated, how much of it was exposed, and where in the program each collective was issued.
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

/// A place in the program: a module; outside modules the innermost op or annotation that does more than
/// communicate; else the outermost one that only communicates.
struct IssuePlace {
  enum class Kind : std::uint8_t { module, module_backward, op, annotation, not_recorded };
  Kind kind = Kind::not_recorded;
  std::string name = {};  ///< a module's path, or the name of an op or annotation
  friend auto operator<=>(const IssuePlace&, const IssuePlace&) = default;
};

struct RankCommunication {
  struct Device {
    std::int64_t id;
    timeline::IntervalSet running;  ///< when collectives run, in the window
    timeline::IntervalSet exposed;  ///< `running` while no compute runs
  };
  struct Row {
    std::uint32_t device = 0;  ///< in `devices`; kNoDevice: it ran on the host
    std::uint32_t place = 0;   ///< in `places`
  };
  static constexpr std::uint32_t kNoDevice = 0xFFFFFFFF;

  timeline::Interval window;    ///< of the chosen steps
  std::vector<Device> devices;  ///< those that communicated
  std::vector<Row> rows;        ///< by collective row
  std::vector<IssuePlace> places;
  bool modules = false;  ///< whether any nn.Module is recorded
};

/// `rows`: the rank's collectives.
RankCommunication rank_communication(const Derived& derived, const trace::Rank& rank,
                                     std::span<const derive::CollectiveRow> rows);

}  // namespace stepscope::analyze
