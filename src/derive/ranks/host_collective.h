// What the range of a collective on the CPU ("gloo:all_reduce") says of it: the tensors that it was given,
// where shapes were recorded. The group is not said; where the process has one, it is that one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "derive/ranks/collective.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// Of a process group; more are damage.
inline constexpr std::int64_t kMaxMembers = 1 << 16;

/// The members of the only process group that the rank had when its recording began, "0, 1"; empty: it had
/// several, or the file does not say.
std::string only_group(const trace::Rank& rank);

class HostCollectives {
 public:
  HostCollectives(const trace::Trace& trace, const trace::Rank& rank);
  struct Message {
    std::int64_t bytes = 0;  ///< see Collective; 0: not known
    std::string_view dtype;  ///< "Float"; "": not known, or several
  };
  /// Of a range, of a collective among `ranks` (0: not known).
  Message of(trace::Row row, Exchange exchange, std::int64_t ranks) const;

 private:
  trace::ArgReader dims_, types_;
};

}  // namespace stepscope::derive
