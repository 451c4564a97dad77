// Where one rank's device time went, step by step. Uses the simulator's own records and arithmetic, so that
// the engine can be checked against it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "make_trace/model/program.h"
#include "make_trace/run/records.h"

namespace stepscope::make_trace {

/// Why the device was idle. The first seven are what the host was doing before it launched the work that
/// ended the gap (see Doing); `refill` is the time from the return of a blocking call in that gap to the
/// launch, `pending` the time after the launch.
enum class Idle : std::uint8_t { input, sync, alloc, launch, runtime, op, other, refill, pending };
constexpr std::size_t kIdleCauses = 9;
const char* idle_name(Idle cause);

struct StepLedger {
  int step = 0;
  std::int64_t host_start = 0, host_end = 0;
  std::int64_t device_start = 0,
               device_end = 0;    ///< end of the last device work, in the previous step and in this one
  std::int64_t compute = 0;       ///< a kernel runs
  std::int64_t exposed_comm = 0;  ///< only collectives run
  std::int64_t exposed_copy = 0;  ///< only copies run
  std::array<std::int64_t, kIdleCauses> idle{};
  std::int64_t comm = 0;           ///< some collective runs
  std::int64_t comm_wait = 0;      ///< sum of own start to the start of the last rank
  std::int64_t only_messages = 0;  ///< nothing runs but sends and receives
  std::int64_t launches = 0;
  std::int64_t host_work = 0;  ///< what the host did besides waiting for the device

  std::int64_t length() const { return device_end - device_start; }
  std::int64_t idle_sum() const;
  std::int64_t bubble() const { return only_messages + idle_sum(); }  ///< of a pipeline stage
};

class Ledger {
 public:
  /// `window_start` is the moment recording began; the device is idle then.
  Ledger(const Program& program, std::int64_t window_start);

  StepLedger add(const StepRows& rows, const std::vector<std::int64_t>& last_starts,
                 std::int64_t first_number);

 private:
  void blame(std::int64_t from, std::int64_t to, std::int64_t launch, StepLedger& ledger) const;
  std::vector<const DeviceRow*> by_start(const StepRows& rows) const;

  const Program& program_;
  std::int64_t device_end_;
  std::vector<Segment> segments_;  ///< host activity from device_end_ onwards
};

}  // namespace stepscope::make_trace
