// Which rank of the job a file is, and gaps that the files of several ranks leave.
#pragma once

#include "trace/trace.h"

namespace stepscope::read {

/// Max ranks of a job: a larger number is damage.
inline constexpr std::int64_t kMaxRanks = 1 << 24;

/// The rank of a file whose head has none: the rank that its collectives name, else the number in "rank3",
/// "rank-3" or "rank_3" of the file's name, else -1.
std::int64_t rank_of(const trace::Trace& trace, const trace::Rank& rank);

/// The number in "rank3", "rank-3" or "rank_3" of the file's name, else -1.
std::int64_t rank_in_name(const std::string& path);

/// Sorts ranks by number. Files without one beside all ranks of a job are left out, and a note names them.
/// Analyses identify ranks by number: other files without one get the numbers that are free, in order of
/// their paths, and a note is added.
void settle_ranks(trace::Trace& trace);

/// Notes gaps in the files of several ranks: missing ranks, ranks that recorded different steps, and start
/// times that cannot be compared.
void note_gaps(trace::Trace& trace);

}  // namespace stepscope::read
