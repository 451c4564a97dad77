// What happened in a stretch of time on some lanes, as a report.
#pragma once

#include <cstdint>
#include <span>

#include "lanes/run.h"
#include "report/table.h"
#include "timeline/interval.h"

namespace stepscope::lanes {

/// `lanes` exist. O(events in the area).
report::Report area_report(const Run& run, timeline::Interval area, std::span<const std::uint32_t> lanes);

}  // namespace stepscope::lanes
