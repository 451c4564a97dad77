// What the answers about I/O share: the calls of a rank in the chosen steps, and what the program computed
// meanwhile.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/io/io_calls.h"
#include "derive/io/library_calls.h"
#include "timeline/interval.h"

namespace stepscope::analyze {

/// The I/O of a rank's processes.
struct RankIo {
  std::vector<derive::IoCall> calls;               ///< that begin in the window; by thread, then by start
  std::vector<derive::IoCall> outside;             ///< the others, in the same order
  std::vector<derive::LibraryCall> library_calls;  ///< that begin in the window
  std::string main_process;                        ///< its pid; "" if no thread is the main one
  timeline::Interval window;
  timeline::IntervalSet
      compute;  ///< a device works on kernels; without a device: operators of the main process
  bool has_device = false, has_compute = false;

  bool empty() const { return calls.empty(); }
};
const RankIo& io_of(const Derived& derived, const trace::Rank& rank);

inline timeline::Interval span_of(const trace::Rank& rank, const derive::IoCall& call) {
  return {rank.events.start[call.row], rank.events.end[call.row]};
}

/// False: nobody recorded I/O; a note says how to.
bool has_io(const Derived& derived, std::vector<std::string>& notes);

/// The number of the step in which the row begins; kNoInt outside all steps.
std::int64_t step_number(const trace::Rank& rank, trace::Row row);

/// "python train.py (4711)", "DataLoader worker 2 (4713)".
std::string process_of(const trace::Track& track);

/// Reads and writes that the page cache could not have answered so slowly: longer than kCachedNs (a cached
/// read of 4 KiB takes 1 to 10 µs, fast virtual disks answer in 40), and kCachedBytesPerNs for their bytes.
inline constexpr std::int64_t kCachedNs = 20'000;
inline constexpr std::int64_t kCachedBytesPerNs = 1;
constexpr bool is_from_storage(std::int64_t ns, std::int64_t bytes) {
  return ns > kCachedNs + bytes / kCachedBytesPerNs;
}

}  // namespace stepscope::analyze
