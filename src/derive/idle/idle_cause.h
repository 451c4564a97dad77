// Why a device was idle: every gap is attributed to what the host did until it launched the work that ended
// the gap.
#pragma once

#include <string_view>
#include <vector>

#include "derive/idle/device_busy.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// In order of precedence: of two causes at one instant the earlier one is named.
enum class IdleCause : std::uint8_t {
  input,    ///< a data loader was waited for, on any thread
  sync,     ///< the launching thread was inside a blocking call
  refill,   ///< after a blocking call returned, until the next launch: the price of having drained the queue
  alloc,    ///< inside a device or pinned-memory (de)allocation
  launch,   ///< inside launch calls
  runtime,  ///< inside other runtime calls
  op,       ///< framework operators were running on the host
  python,   ///< only Python was running
  annotation,  ///< inside a user range with nothing else recorded
  untraced,    ///< nothing is recorded on any launching thread
  pending,     ///< launched, not started: launch latency, another stream, or missing records
};
inline constexpr std::size_t kIdleCauses = 11;

std::string_view name_of(IdleCause cause);
/// One clause for people, e.g. "the data loader was waited for".
std::string_view meaning_of(IdleCause cause);

/// A stretch of a gap with one cause.
struct IdlePiece {
  timeline::Interval span;
  IdleCause cause;
  std::int32_t device;  ///< index into the busy devices
  trace::Row ender;     ///< device event that ended the gap, kNoRow at the window's end
  bool whole = false;   ///< a gap that was not cut by cause, and is called untraced
};

/// From this many pieces on gaps stay whole: one thread that launches to thousands of devices would be told
/// of again for each of them.
std::size_t most_idle_pieces(const trace::Rank& rank);

/// Pieces of all gaps of all devices inside `window`, in time order per device. Their lengths add up to the
/// idle time. Method: after the launch of the ending event began the gap is `pending`; before, what the
/// launching thread did, then what the other launching threads did. O(n) in rows.
Column<IdlePiece> idle_pieces(const trace::Trace& trace, const trace::Rank& rank,
                              const std::vector<DeviceBusy>& devices, timeline::Interval window);

}  // namespace stepscope::derive
