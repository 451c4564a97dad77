// One collective on a device: what it does, with how many, how much.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/trace.h"

namespace stepscope::derive {

enum class Exchange : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  point_to_point,  ///< send, receive; and collectives made of them whose name says no more
  other,
};
std::string_view name_of(Exchange exchange);

/// By the recorder's "Collective name", the name of a range around it ("nccl:all_reduce") or of its kernel.
Exchange exchange_of(std::string_view name);

struct Collective {
  Exchange exchange = Exchange::other;
  trace::StringId dtype = trace::kEmptyString;
  std::int64_t group = 0;  ///< ranks that take part, 0: not recorded
  std::int64_t bytes = 0;  ///< that this rank gives or gets, whichever is more; 0: not recorded
};

/// Reads what the kernel's args say of its collective.
class CollectiveArgs {
 public:
  CollectiveArgs(const trace::Trace& trace, const trace::Rank& rank);
  Collective of(trace::Row kernel) const;

 private:
  Exchange around(trace::Row row, Exchange otherwise) const;
  const trace::Trace& trace_;
  const trace::Rank& rank_;
  trace::ArgReader name_, dtype_, group_, in_, out_;
};

/// What one link of a ring carries / time: bytes × 2(n-1)/n of an all-reduce, × (n-1)/n of gathers, scatters
/// and all-to-alls, else bytes. Bytes per second; nothing when the group or the bytes are not recorded.
std::optional<double> bus_rate(const Collective& collective, std::int64_t time);

}  // namespace stepscope::derive
