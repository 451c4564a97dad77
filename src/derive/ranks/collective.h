// One collective on a device: its kind, its number of ranks, its size.
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
  all_to_all_v,  ///< with parts of unequal size
  broadcast,
  reduce,
  gather,
  scatter,
  barrier,
  point_to_point,  ///< send, receive; also collectives built from these, if no name reveals which
  other,
};
std::string_view name_of(Exchange exchange);
/// One rank sends to all others or receives from all, so not every rank waits for every other.
bool has_root(Exchange exchange);

/// Parses the recorded "Collective name", the name of a range around a kernel ("nccl:all_reduce") or a
/// kernel's name.
Exchange exchange_of(std::string_view name);
/// The numbers in "[0, 1, 2]", with or without brackets; empty if the list is truncated or holds anything
/// else.
std::vector<std::int64_t> numbers_in(std::string_view list);
/// True for host ranges that only communicate: "c10d::allreduce_", "nccl:all_reduce".
bool is_communication_range(std::string_view name);

struct ElementType {
  std::string_view name;   ///< in static storage
  std::int64_t bytes = 0;  ///< of one element
};
/// The type of a recorded "dtype" ("BFloat16"); {"", 0} if it is not known.
ElementType element_type(std::string_view dtype);

struct Collective {
  Exchange exchange = Exchange::other;
  trace::StringId dtype = trace::kEmptyString;
  std::int64_t group = 0;  ///< participating ranks, 0: not recorded
  /// The larger of the bytes that this rank sends and receives; its own part of an uneven all-to-all is
  /// excluded. 0: not recorded.
  std::int64_t bytes = 0;
  std::int64_t place = -1;  ///< index in the group of the root, else of this rank; -1: not recorded
};

/// Reads a kernel's collective from its args, else from those of its op. Without either, only `exchange` is
/// set, from the names of the kernel and of the ranges around it.
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

/// Bytes on one link of a ring / message bytes, among n ranks: 2(n-1)/n for all-reduces; (n-1)/n for gathers,
/// scatters, reduce-scatters and even all-to-alls; else 1. Empty for barriers and for groups of one rank or
/// of unknown size.
std::optional<double> bus_factor(Exchange exchange, std::int64_t ranks);
/// bytes × bus_factor / time, bytes per second; also empty if the bytes are not recorded.
std::optional<double> bus_rate(const Collective& collective, std::int64_t time);

}  // namespace stepscope::derive
