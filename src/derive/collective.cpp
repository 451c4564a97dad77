#include "derive/collective.h"

#include <algorithm>

namespace stepscope::derive {
namespace {

std::int64_t element_bytes(std::string_view dtype) {
  struct Known {
    std::string_view name;
    std::int64_t bytes;
  };
  constexpr Known kKnown[] = {{"Float", 4},    {"Int", 4},  {"Long", 8},          {"Double", 8},
                              {"BFloat16", 2}, {"Half", 2}, {"Short", 2},         {"Bool", 1},
                              {"Byte", 1},     {"Char", 1}, {"Float8_e4m3fn", 1}, {"Float8_e5m2", 1}};
  for (const Known& known : kKnown)
    if (known.name == dtype) return known.bytes;
  return 0;
}

/// Lower case, without '_': "All_Reduce" and "allreduce" are one.
std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name.substr(0, 4096))
    if (c != '_') out += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

}  // namespace

std::string_view name_of(Exchange exchange) {
  constexpr std::string_view kNames[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all",
                                         "broadcast",  "reduce",     "send/receive",   "other"};
  return kNames[static_cast<std::size_t>(exchange)];
}

Exchange exchange_of(std::string_view name) {
  struct Known {
    std::string_view part;
    Exchange exchange;
  };
  constexpr Known kKnown[] = {
      {"allreduce", Exchange::all_reduce},         {"crossdevicereduce", Exchange::all_reduce},
      {"reducescatter", Exchange::reduce_scatter}, {"allgather", Exchange::all_gather},
      {"alltoall", Exchange::all_to_all},          {"broadcast", Exchange::broadcast},
      {"sendrecv", Exchange::point_to_point},      {"send", Exchange::point_to_point},
      {"recv", Exchange::point_to_point},          {"reduce", Exchange::reduce}};
  const std::string text = plain(name);
  for (const Known& known : kKnown)
    if (text.find(known.part) != std::string::npos) return known.exchange;
  return Exchange::other;
}

/// What the ranges around a launch say that is sent and received.
Exchange CollectiveArgs::around(trace::Row row, Exchange otherwise) const {
  constexpr int kMostRanges = 8;
  for (int i = 0; row != trace::kNoRow && i < kMostRanges; ++i, row = rank_.events.parent[row])
    if (const std::string_view name = trace_.name(rank_, row);
        name.starts_with("nccl:") || name.starts_with("c10d::"))
      return exchange_of(name) == Exchange::other ? otherwise : exchange_of(name);
  return otherwise;
}

CollectiveArgs::CollectiveArgs(const trace::Trace& trace, const trace::Rank& rank)
    : trace_(trace),
      rank_(rank),
      name_(trace, rank, "Collective name"),
      dtype_(trace, rank, "dtype"),
      group_(trace, rank, "Group size"),
      in_(trace, rank, "In msg nelems"),
      out_(trace, rank, "Out msg nelems") {}

Collective CollectiveArgs::of(trace::Row kernel) const {
  Collective c;
  const bool named = name_.has(kernel);
  // Several sends and receives in one kernel are "coalesced".
  const bool says = named && name_.text(kernel) != "coalesced";
  c.exchange = exchange_of(says ? name_.text(kernel) : trace_.name(rank_, kernel));
  if (!named) {
    const trace::Row op = rank_.events.op[kernel];
    if (c.exchange == Exchange::point_to_point) c.exchange = around(rank_.events.launch[kernel], c.exchange);
    if (c.exchange == Exchange::point_to_point && op != trace::kNoRow) c.exchange = around(op, c.exchange);
    return c;
  }
  c.dtype = dtype_.id(kernel);
  c.group = std::max<std::int64_t>(0, group_.integer_or(kernel, 0));
  const std::int64_t elements = std::max(in_.integer_or(kernel, 0), out_.integer_or(kernel, 0));
  if (elements <= 0 || __builtin_mul_overflow(elements, element_bytes(trace_.text(c.dtype)), &c.bytes))
    c.bytes = 0;
  return c;
}

std::optional<double> bus_rate(const Collective& c, std::int64_t time) {
  if (c.group < 2 || c.bytes <= 0 || time <= 0) return std::nullopt;
  const double others = static_cast<double>(c.group - 1) / static_cast<double>(c.group);
  const bool gathers = c.exchange == Exchange::all_gather || c.exchange == Exchange::reduce_scatter ||
                       c.exchange == Exchange::all_to_all;
  const double factor = c.exchange == Exchange::all_reduce ? 2 * others : gathers ? others : 1;
  return static_cast<double>(c.bytes) * factor / (static_cast<double>(time) * 1e-9);
}

}  // namespace stepscope::derive
