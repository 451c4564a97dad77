#include "derive/ranks/collective.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace stepscope::derive {
namespace {

constexpr std::int64_t kMaxNumber = std::int64_t{1} << 40;  // max rank number, and max elements of a part
constexpr std::size_t kMaxNumbers = 1 << 20;                // numbers in a list

/// Lower case, without '_': "All_Reduce" and "allreduce" are one.
std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name.substr(0, 4096))
    if (c != '_') out += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

}  // namespace

std::string_view name_of(Exchange exchange) {
  constexpr std::string_view kNames[] = {"all-reduce",        "all-gather", "reduce-scatter", "all-to-all",
                                         "uneven all-to-all", "broadcast",  "reduce",         "gather",
                                         "scatter",           "barrier",    "send/receive",   "other"};
  return kNames[static_cast<std::size_t>(exchange)];
}

bool has_root(Exchange exchange) {
  return exchange == Exchange::broadcast || exchange == Exchange::reduce || exchange == Exchange::gather ||
         exchange == Exchange::scatter;
}

std::vector<std::int64_t> numbers_in(std::string_view list) {
  if (list.starts_with('[')) list.remove_prefix(1);
  if (list.ends_with(']')) list.remove_suffix(1);
  std::vector<std::int64_t> numbers;
  for (const char *at = list.data(), *end = at + list.size(); at != end;) {
    std::int64_t number = 0;
    const auto [behind, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || number < 0 || number > kMaxNumber || numbers.size() == kMaxNumbers) return {};
    numbers.push_back(number);
    for (at = behind; at != end && (*at == ',' || *at == ' ');) ++at;
  }
  return numbers;
}

bool is_communication_range(std::string_view name) {
  constexpr std::string_view kHeads[] = {
      "c10d::", "nccl:", "rccl:", "xccl:", "record_param_comms", "_c10d_functional::"};
  return std::any_of(std::begin(kHeads), std::end(kHeads),
                     [&](std::string_view head) { return name.starts_with(head); });
}

ElementType element_type(std::string_view dtype) {
  constexpr ElementType kKnown[] = {{"Float", 4},
                                    {"BFloat16", 2},
                                    {"Half", 2},
                                    {"Double", 8},
                                    {"Long", 8},
                                    {"Int", 4},
                                    {"Short", 2},
                                    {"Byte", 1},
                                    {"Char", 1},
                                    {"Bool", 1},
                                    {"Float8_e4m3fn", 1},
                                    {"Float8_e5m2", 1},
                                    {"Float8_e4m3fnuz", 1},
                                    {"Float8_e5m2fnuz", 1},
                                    {"Float8_e8m0fnu", 1},
                                    {"UInt16", 2},
                                    {"UInt32", 4},
                                    {"UInt64", 8},
                                    {"ComplexHalf", 4},
                                    {"ComplexFloat", 8},
                                    {"ComplexDouble", 16}};
  for (const ElementType& known : kKnown)
    if (known.name == dtype) return known;
  return {};
}

Exchange exchange_of(std::string_view name) {
  struct Known {
    std::string_view part;
    Exchange exchange;
  };
  constexpr Known kKnown[] = {{"allreduce", Exchange::all_reduce},
                              {"crossdevicereduce", Exchange::all_reduce},
                              {"reducescatter", Exchange::reduce_scatter},
                              {"allgather", Exchange::all_gather},
                              {"alltoallv", Exchange::all_to_all_v},
                              {"alltoall", Exchange::all_to_all},
                              {"broadcast", Exchange::broadcast},
                              {"barrier", Exchange::barrier},
                              {"sendrecv", Exchange::point_to_point},
                              {"send", Exchange::point_to_point},
                              {"recv", Exchange::point_to_point},
                              {"reduce", Exchange::reduce},
                              {"gather", Exchange::gather},
                              {"scatter", Exchange::scatter}};
  const std::string text = plain(name);
  for (const Known& known : kKnown)
    if (text.find(known.part) != std::string::npos) return known.exchange;
  return Exchange::other;
}

/// The exchange that the ranges around a launch name, else `otherwise`.
Exchange CollectiveArgs::around(trace::Row row, Exchange otherwise) const {
  constexpr int kMaxRanges = 8;
  for (int i = 0; row != trace::kNoRow && i < kMaxRanges; ++i, row = rank_.events.parent[row])
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
      out_(trace, rank, "Out msg nelems"),
      in_parts_(trace, rank, "In split size"),
      out_parts_(trace, rank, "Out split size"),
      place_(trace, rank, "Rank") {}

namespace {

/// The bytes that a rank sends or receives in an uneven all-to-all, without its own part. If the sizes of the
/// parts are not recorded, they count as equal.
std::int64_t with_others(std::int64_t bytes, std::string_view parts, const Collective& of) {
  const std::vector<std::int64_t> sizes = numbers_in(parts);
  const std::int64_t all = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  if (of.place < 0 || of.place >= std::ssize(sizes) || all <= 0)
    return of.group < 1 ? bytes : bytes - bytes / of.group;
  const double own =
      static_cast<double>(sizes[static_cast<std::size_t>(of.place)]) / static_cast<double>(all);
  constexpr double kMaxBytes = 9e18;
  return static_cast<std::int64_t>(std::min(kMaxBytes, static_cast<double>(bytes) * (1 - own)));
}

}  // namespace

/// The row that names the collective: the kernel or its op; kNoRow if neither does.
trace::Row CollectiveArgs::named(trace::Row kernel) const {
  const trace::Row op = rank_.events.op[kernel];
  return name_.has(kernel) ? kernel : op != trace::kNoRow && name_.has(op) ? op : trace::kNoRow;
}

Collective CollectiveArgs::of(trace::Row kernel) const {
  Collective c;
  const trace::Row said = named(kernel);
  // A kernel with several sends and receives is named "coalesced".
  const bool says = said != trace::kNoRow && name_.text(said) != "coalesced";
  c.exchange = exchange_of(says ? name_.text(said) : trace_.name(rank_, kernel));
  if (said == trace::kNoRow) {
    const trace::Row op = rank_.events.op[kernel];
    if (c.exchange == Exchange::point_to_point) c.exchange = around(rank_.events.launch[kernel], c.exchange);
    if (c.exchange == Exchange::point_to_point && op != trace::kNoRow) c.exchange = around(op, c.exchange);
    return c;
  }
  c.dtype = dtype_.id(said);
  c.group = std::max<std::int64_t>(0, group_.integer_or(said, 0));
  const trace::Row op = rank_.events.op[kernel];
  c.place = place_.integer_or(said, op == trace::kNoRow ? -1 : place_.integer_or(op, -1));
  const std::int64_t in = bytes_in(said, in_), out = bytes_in(said, out_);
  c.bytes = std::max(in, out);
  if (c.exchange == Exchange::all_to_all_v)
    c.bytes = std::max(with_others(in, in_parts_.text(said), c), with_others(out, out_parts_.text(said), c));
  return c;
}

std::int64_t CollectiveArgs::bytes_in(trace::Row row, const trace::ArgReader& elements) const {
  const std::int64_t count = elements.integer_or(row, 0);
  std::int64_t bytes = 0;
  if (count <= 0 || __builtin_mul_overflow(count, element_type(dtype_.text(row)).bytes, &bytes)) return 0;
  return bytes;
}

std::optional<double> bus_factor(Exchange exchange, std::int64_t ranks) {
  if (ranks < 2 || exchange == Exchange::barrier) return std::nullopt;
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  switch (exchange) {
    case Exchange::all_reduce:
      return 2 * others;
    case Exchange::all_gather:
    case Exchange::reduce_scatter:
    case Exchange::all_to_all:
    case Exchange::gather:
    case Exchange::scatter:
      return others;
    default:
      return 1;
  }
}

std::optional<double> bus_rate(const Collective& c, std::int64_t time) {
  const std::optional<double> factor = bus_factor(c.exchange, c.group);
  if (!factor || c.bytes <= 0 || time <= 0) return std::nullopt;
  return static_cast<double>(c.bytes) * *factor / (static_cast<double>(time) * 1e-9);
}

}  // namespace stepscope::derive
