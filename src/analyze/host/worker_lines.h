// What the program does beside its main thread: workers of data loaders, and other threads, by its lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/sheet.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// A line of the program in worker processes. Times in ns within the window, of all workers together.
struct WorkerLine {
  std::int64_t rank = -1;
  std::string line, text;
  double share = 0;        ///< `self` ÷ all fetching, or ÷ its samples' time if longer
  std::int64_t self = 0;   ///< the innermost of the program's lines, while a batch is fetched
  std::int64_t total = 0;  ///< on the stack, while a batch is fetched
  std::string calls;       ///< the innermost frame outside the program that holds half of `self`; "" for none
};
extern const report::Sheet<WorkerLine> kWorkerLineSheet;
extern const report::Sheet<WorkerLine> kThreadLineSheet;

/// What a rank's workers did in the window, of all of them together.
struct Fetching {
  std::int64_t rank = -1;
  std::int64_t workers = 0;           ///< that fetched a batch
  std::int64_t batches = 0;           ///< fetched to their end
  std::int64_t fetching = 0;          ///< ns in fetches
  std::int64_t cpu = report::kNoInt;  ///< of that, on a core or waiting for one, ns; kNoInt: not recorded
};
extern const report::Sheet<Fetching> kFetchingSheet;

/// What the program does beside its main threads.
struct Elsewhere {
  std::vector<Fetching> fetching;   ///< one per rank with workers
  std::vector<WorkerLine> workers;  ///< of workers while they fetch: by rank, most `self` first
  std::vector<WorkerLine>
      threads;  ///< of other threads: by rank, most `self` first; shares are of the window
};

/// Whether a line waits for other threads, processes or the clock, by the frame outside the program that it
/// calls, or by its text.
bool waits(std::string_view calls, std::string_view text);

/// Adds what a rank's workers did, and the 50 lines with most `self` of the workers and of the other threads
/// of the process; none without stacks of theirs. `main`: the main thread.
void add_elsewhere(Elsewhere& of, const trace::Trace& trace, const trace::Rank& rank, trace::TrackId main,
                   timeline::Interval window);

}  // namespace stepscope::analyze
