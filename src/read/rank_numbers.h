// Which rank of the job a file is, and what files of several ranks leave open.
#pragma once

#include "trace/trace.h"

namespace stepscope::read {

/// No job has more ranks: a larger number is damage.
inline constexpr std::int64_t kMaxRanks = 1 << 24;

/// For a file whose head does not say: the rank that its collectives name, else the number in "rank3",
/// "rank-3" or "rank_3" of the file's name, else -1.
std::int64_t rank_of(const trace::Trace& trace, const trace::Rank& rank);

/// The number in "rank3", "rank-3" or "rank_3" of the file's name, else -1.
std::int64_t rank_in_name(const std::string& path);

/// Of recordings of one process, one behind the other, as a schedule with several cycles leaves them, the
/// last stays; a note names it. They are told by
/// what trace handlers name the files, process id, rank, and times that do not overlap.
void leave_earlier_cycles(trace::Trace& trace);

/// Sorts ranks by number. Analyses tell ranks apart by it: where files have none, or the same one, all are
/// numbered in order of their paths, and a note says so.
void settle_ranks(trace::Trace& trace);

/// Notes what files of several ranks leave open: ranks of the job that are missing, and ranks that recorded
/// other steps.
void note_gaps(trace::Trace& trace);

}  // namespace stepscope::read
