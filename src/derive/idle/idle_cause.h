// Why a device was idle. Every gap is attributed to what the host did until it launched the work that ended
// the gap.
#pragma once

#include <string_view>
#include <vector>

#include "derive/idle/device_busy.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// In order of precedence: of two causes at one instant the first listed counts.
enum class IdleCause : std::uint8_t {
  input,       ///< waiting for a data loader, on any thread
  sync,        ///< the launching thread was inside a blocking call
  refill,      ///< from the end of a blocking call to the next launch: the cost of having drained the queue
  alloc,       ///< inside a device or pinned-memory (de)allocation
  launch,      ///< inside launch calls
  runtime,     ///< inside other runtime calls
  io,          ///< inside a call of the file system
  op,          ///< framework operators were running on the host
  python,      ///< only Python was running
  annotation,  ///< inside a user range with nothing else recorded
  untraced,    ///< nothing is recorded on any launching thread
  pending,     ///< launched, not started: launch latency, another stream, or missing records
};
inline constexpr std::size_t kIdleCauses = 12;

std::string_view name_of(IdleCause cause);
/// One clause for people, e.g. "the data loader was waited for".
std::string_view meaning_of(IdleCause cause);

/// A stretch of a gap with one cause.
struct IdlePiece {
  timeline::Interval span;
  IdleCause cause;
  std::int32_t device;  ///< index into the busy devices
  trace::Row ender;     ///< device event that ended the gap, kNoRow at the window's end
  bool whole = false;   ///< a gap not cut by cause; its cause is `untraced`
};

/// After this many pieces, gaps are no longer cut. Without a limit, a thread that launches to thousands of
/// devices would have its ranges repeated for each device.
std::size_t most_idle_pieces(const trace::Rank& rank);

/// Pieces of all gaps of all devices inside `window`, in time order per device. Their lengths add up to the
/// idle time. A gap is `pending` from the start of the launch of its ending event. Before that, its cause is
/// what the launching thread did; while that is untraced, what the other launching threads did. O(n) in rows.
Column<IdlePiece> idle_pieces(const trace::Trace& trace, const trace::Rank& rank,
                              const std::vector<DeviceBusy>& devices, timeline::Interval window);

}  // namespace stepscope::derive
