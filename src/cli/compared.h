// Opening what is compared.
#pragma once

#include <string>
#include <vector>

#include "cli/present.h"

namespace stepscope::cli {

/// Two sides of a comparison, one trace per recording.
struct Sides {
  std::vector<trace::Trace> a, b;
};

/// Each path is one recording: a file, or a directory of the ranks of one job.
Result<Sides> open_sides(const Call& call, const std::vector<std::string>& a,
                         const std::vector<std::string>& b);

/// Without the columns that are for programs.
void leave_out_details(report::Report& report);

}  // namespace stepscope::cli
