// Leaves out files that cannot be of the same run of the job as the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "merge/source.h"

namespace stepscope::merge {

/// Keeps the sources of one run, as opening the files together would: see read::choose_run. Adds a note that
/// names each file left out. Sources that are no rank stay. An Error if there is no run `wanted`.
std::optional<Error> keep_one_run(std::vector<Source>& sources, std::int64_t wanted,
                                  std::vector<std::string>& notes);

/// Once they are aligned, which shows who shares collectives: leaves out ranks that recorded before or after
/// all of the others, unless their collectives match the others'. Of two groups apart, the larger one stays,
/// or else the newer.
void leave_ranks_apart(std::vector<Source>& sources, std::vector<std::string>& notes);

}  // namespace stepscope::merge
