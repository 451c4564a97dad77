// One collective on a device: what it does, with how many, how much.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

enum class Exchange : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  all_to_all_v,  ///< of uneven parts
  broadcast,
  reduce,
  gather,
  scatter,
  barrier,
  point_to_point,  ///< send, receive; and collectives made of them whose name says no more
  other,
};
std::string_view name_of(Exchange exchange);
/// One rank gives to all others, or takes from them: not all have to wait for all.
bool has_root(Exchange exchange);

/// By the recorder's "Collective name", the name of a range around it ("nccl:all_reduce") or of its kernel.
Exchange exchange_of(std::string_view name);
/// Of "[0, 1, 2]", with or without brackets; none when the list is cut or holds something else.
std::vector<std::int64_t> numbers_in(std::string_view list);
/// True for host ranges that only communicate: "c10d::allreduce_", "nccl:all_reduce".
bool is_communication_range(std::string_view name);

struct ElementType {
  std::string_view name;   ///< of the program's own storage
  std::int64_t bytes = 0;  ///< of one element
};
/// Of a recorded "dtype" ("BFloat16"); {"", 0} when it is not known.
ElementType element_type(std::string_view dtype);

struct Collective {
  Exchange exchange = Exchange::other;
  trace::StringId dtype = trace::kEmptyString;
  std::int64_t group = 0;  ///< ranks that take part, 0: not recorded
  /// That this rank gives or gets, whichever is more; of an uneven all-to-all without what it gives itself.
  /// 0: not recorded.
  std::int64_t bytes = 0;
  std::int64_t place = -1;  ///< in the group: of the root, else of this rank; -1: not recorded
};

/// Reads what the args of a kernel, or else of the op that it serves, say of its collective.
class CollectiveArgs {
 public:
  CollectiveArgs(const trace::Trace& trace, const trace::Rank& rank);
  Collective of(trace::Row kernel) const;

 private:
  trace::Row named(trace::Row kernel) const;
  std::int64_t bytes_in(trace::Row row, const trace::ArgReader& elements) const;
  Exchange around(trace::Row row, Exchange otherwise) const;
  const trace::Trace& trace_;
  const trace::Rank& rank_;
  trace::ArgReader name_, dtype_, group_, in_, out_, in_parts_, out_parts_, place_;
};

/// What one link of a ring carries / bytes, among n ranks: 2(n-1)/n of an all-reduce, (n-1)/n of gathers,
/// scatters and even all-to-alls, else 1. Nothing where nothing is carried: barriers, and groups of one rank
/// or unknown size.
std::optional<double> bus_factor(Exchange exchange, std::int64_t ranks);
/// bytes × bus_factor / time, bytes per second; nothing also when the bytes are not recorded.
std::optional<double> bus_rate(const Collective& collective, std::int64_t time);

}  // namespace stepscope::derive
