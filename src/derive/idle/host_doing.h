// What a host thread did at each instant, as far as that explains why a device had no work.
#pragma once

#include <array>
#include <vector>

#include "derive/idle/idle_cause.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// Causes that a thread's own ranges determine, in order of precedence.
inline constexpr std::array kHostCauses = {IdleCause::sync,    IdleCause::alloc,     IdleCause::launch,
                                           IdleCause::runtime, IdleCause::io,        IdleCause::op,
                                           IdleCause::python,  IdleCause::annotation};

struct Labelled {
  timeline::Interval span;
  IdleCause cause;
};

/// What one thread did, in time order.
struct Doing {
  Column<Labelled> labels;
  std::vector<timeline::Time> blocking_ends;  ///< ends of blocking calls, ascending
};

/// The cause for a range's name, looked up once per name.
class CauseOfName {
 public:
  explicit CauseOfName(const trace::Trace& trace);

  /// An index of IdleCause; kIdleCauses if the range is no cause (a step mark).
  std::size_t operator()(trace::StringId name, trace::Kind kind);

 private:
  const trace::Trace& trace_;
  std::vector<std::uint8_t> known_;
};

/// Labels every instant of `where`, in one pass over the thread's rows. If the thread is not in the rank, all
/// instants are untraced.
Doing doing_in(const timeline::IntervalSet& where, const trace::Rank& rank, trace::TrackId thread,
               CauseOfName& causes);

/// By cause: all times in which a range with that cause was open on any of `threads`.
std::array<timeline::IntervalSet, kIdleCauses> doing_of_all(const trace::Rank& rank,
                                                            const std::vector<trace::TrackId>& threads,
                                                            CauseOfName& causes);

}  // namespace stepscope::derive
