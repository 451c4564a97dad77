// How the main thread of a program without a device spends its time.
#pragma once

#include <string>
#include <vector>

#include "analyze/host/host_collectives.h"
#include "analyze/host/host_work.h"
#include "analyze/idle/idle_places.h"
#include "report/table.h"

namespace stepscope::analyze {

/// Answer for the ranks without device work.
struct HostTime {
  std::vector<HostPlace> places;
  std::vector<HostWork> work;
  std::vector<HostCollectives> collectives;
  std::vector<std::string> notes;
};
HostTime host_time_of(const Derived& derived);

}  // namespace stepscope::analyze
