#include "derive/ranks/collective_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "derive/kernel_class.h"
#include "derive/work/op_args.h"

namespace stepscope::derive {
namespace {

using trace::kNoRow;
using trace::Row;

constexpr std::int64_t kMaxMembers = 1 << 16;

/// The type's name in the args of device collectives.
std::string_view dtype_name(DType type) {
  static constexpr std::pair<DType, std::string_view> kNames[] = {
      {DType::float32, "Float"}, {DType::float64, "Double"},    {DType::float16, "Half"},
      {DType::int64, "Long"},    {DType::bfloat16, "BFloat16"}, {DType::int32, "Int"},
      {DType::int16, "Short"},   {DType::int8, "Char"},         {DType::uint8, "Byte"},
      {DType::boolean, "Bool"}};
  const auto found = std::ranges::find(kNames, type, [](const auto& entry) { return entry.first; });
  return found == std::end(kNames) ? "" : found->second;
}

/// The number of process groups; -1: not recorded.
std::int64_t process_groups(const trace::Rank& rank) {
  constexpr std::string_view kCount = R"("pg_count":)";
  for (const auto& [key, json] : rank.metadata) {
    const std::size_t at = key == "distributedInfo" ? json.find(kCount) : json.npos;
    if (at == json.npos) continue;
    const char* digits = json.data() + at + kCount.size();
    while (digits != json.data() + json.size() && *digits == ' ') ++digits;
    std::int64_t count = -1;
    std::from_chars(digits, json.data() + json.size(), count);
    return count;
  }
  return -1;
}

/// The members of the rank's only process group when its recording began, "0, 1"; empty if it had several
/// groups or the number is not recorded.
std::string only_group(const trace::Rank& rank) {
  if (process_groups(rank) != 1 || rank.world_size < 1 || rank.world_size > kMaxMembers) return "";
  std::string members = "0";
  for (std::int64_t i = 1; i < rank.world_size; ++i) members += fmt::format(", {}", i);
  return members;
}

/// Size and type of a collective on the CPU ("gloo:all_reduce"), from the input tensors of its range, if
/// shapes were recorded.
class HostCollectives {
 public:
  struct Message {
    std::int64_t bytes = 0;  ///< see Collective; 0: not known
    std::string_view dtype;  ///< "Float"; "": not known, or several
  };
  HostCollectives(const trace::Trace& trace, const trace::Rank& rank)
      : dims_(trace, rank, "Input Dims"), types_(trace, rank, "Input type") {}

  /// The message of a range; its collective has `ranks` ranks (0: not known).
  Message of(trace::Row row, Exchange exchange, std::int64_t ranks) const {
    const OpArgs args = parse_op_args(dims_.text(row), types_.text(row), "", "");
    Amount given = 0;
    Message message;
    bool first = true;
    for (const Arg& arg : args.args) {
      if (!arg.is_tensor()) continue;
      const std::string_view dtype = dtype_name(arg.dtype);
      given +=
          numel(arg.shape) * (arg.dtype == DType::unknown ? Amount::unknown() : bytes_per_element(arg.dtype));
      message.dtype = first || message.dtype == dtype ? dtype : "";
      first = false;
    }
    switch (exchange) {
      case Exchange::all_reduce:
      case Exchange::broadcast:
      case Exchange::reduce:
      case Exchange::point_to_point:
        message.bytes = given.value();
        break;
      case Exchange::all_gather:
        message.bytes = (given * ranks).value();
        break;
      default:
        break;  // the recording does not separate inputs from outputs
    }
    return message;
  }

 private:
  trace::ArgReader dims_, types_;
};

/// Reads collectives from the args of a kernel, else of its op; and from host ranges.
class Reader {
 public:
  Reader(const trace::Trace& trace, const trace::Rank& rank, GroupNames& groups)
      : rank_(rank),
        groups_(groups),
        args_(trace, rank),
        sequence_(trace, rank, "Seq"),
        members_(trace, rank, "Process Group Ranks"),
        name_(trace, rank, "Process Group Name"),
        size_(trace, rank, "Group size"),
        first_(trace, rank, "Global rank start"),
        stride_(trace, rank, "Global rank stride"),
        description_(trace, rank, "Process Group Description"),
        from_(trace, rank, "Src Rank"),
        to_(trace, rank, "Dst Rank"),
        host_(trace, rank),
        only_group_(only_group(rank)),
        trace_(trace) {}

  CollectiveRow of_device(Row row) {
    const trace::EventTable& e = rank_.events;
    const Row op = e.op[row];
    const auto says = [&](Row at) { return at != kNoRow && size_.has(at); };
    const Row said = says(row) || !says(op) ? row : op;
    const Collective c = args_.of(row);
    CollectiveRow out{};
    out.exchange = c.exchange;
    out.bytes = c.bytes;
    out.ranks = std::max<std::int64_t>(0, size_.integer_or(said, 0));
    out.sequence = sequence_.integer_or(row, op == kNoRow ? -1 : sequence_.integer_or(op, -1));
    const std::string members = members_of(said, out.ranks);
    if (has_root(c.exchange) && c.place >= 0) out.root = member_at(members, c.place);
    out.dtype = element_type(trace_.text(c.dtype)).name;
    out.group = groups_.id(members, std::string(name_.text(said)), description_.text(said));
    place(out, row);
    if (out.exchange == Exchange::point_to_point) {
      const Row ends = to_.has(row) || from_.has(row) || op == kNoRow ? row : op;
      out.sends = to_.has(ends);
      out.peer = std::max<std::int64_t>(-1, (out.sends ? to_ : from_).integer_or(ends, -1));
    }
    return out;
  }

  CollectiveRow of_host(Row row) {
    CollectiveRow out{};
    out.exchange = exchange_of(trace_.name(rank_, row));
    out.sequence = -1;
    out.ranks = only_group_.empty() ? 0 : rank_.world_size;
    const HostCollectives::Message message = host_.of(row, out.exchange, out.ranks);
    out.bytes = message.bytes;
    out.dtype = message.dtype;
    out.group = groups_.id(only_group_, "");
    place(out, row);
    return out;
  }

 private:
  void place(CollectiveRow& out, Row row) const {
    const trace::EventTable& e = rank_.events;
    const std::int32_t step = e.step[row];
    out.step = step < 0 ? -1 : rank_.steps[static_cast<std::size_t>(step)].number;
    out.start = rank_.base_ns + e.start[row];
    out.end = rank_.base_ns + e.end[row];
    out.row = row;
  }

  /// "[0, 1, ..., 63]" was truncated by the writer; first rank, stride and size give the whole list.
  std::string members_of(Row row, std::int64_t size) {
    std::string_view text = members_.text(row);
    if (text.starts_with('[')) text.remove_prefix(1);
    if (text.ends_with(']')) text.remove_suffix(1);
    if (text.find("...") == std::string_view::npos) return std::string(text);
    const auto first = first_.integer(row), stride = stride_.integer(row);
    if (!first || !stride || size <= 0 || size > kMaxMembers || *first < 0 || *first > kMaxMembers ||
        *stride < 1 || *stride > kMaxMembers)
      return std::string(text);
    std::string& whole = whole_[{*first, *stride, size}];
    if (!whole.empty()) return whole;
    for (std::int64_t i = 0; i < size; ++i)
      whole += fmt::format("{}{}", i == 0 ? "" : ", ", *first + i * *stride);
    return whole;
  }

  static std::int64_t member_at(const std::string& members, std::int64_t place) {
    const std::vector<std::int64_t> numbers = numbers_in(members);
    return place < std::ssize(numbers) ? numbers[static_cast<std::size_t>(place)] : -1;
  }

  const trace::Rank& rank_;
  GroupNames& groups_;
  const CollectiveArgs args_;
  trace::ArgReader sequence_, members_, name_, size_, first_, stride_, description_, from_, to_;
  const HostCollectives host_;
  const std::string only_group_;
  const trace::Trace& trace_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::string>
      whole_;  // by first, stride, size
};

}  // namespace

std::uint32_t GroupNames::id(std::string members, std::string name, std::string_view description) {
  const auto [found, added] =
      ids_.try_emplace({std::move(members), std::move(name)}, static_cast<std::uint32_t>(names_.size()));
  if (added) {
    names_.push_back(found->first);
    descriptions_.emplace_back();
  }
  std::string& known = descriptions_[found->second];
  if (known.empty()) known = description;
  return found->second;
}

std::vector<CollectiveRow> collective_rows(const trace::Trace& trace, const trace::Rank& rank,
                                           GroupNames& groups) {
  const trace::EventTable& e = rank.events;
  Reader reader(trace, rank, groups);
  std::vector<CollectiveRow> rows;
  std::unordered_map<Row, std::size_t> of_op;
  for (const Row row : rank.device_rows()) {
    if (e.work[row] != trace::Work::communication) continue;
    if (e.op[row] != kNoRow) {
      const auto [found, added] = of_op.try_emplace(e.op[row], rows.size());
      if (!added) {
        CollectiveRow& first = rows[found->second];
        first.start = std::min(first.start, rank.base_ns + e.start[row]);
        first.end = std::max(first.end, rank.base_ns + e.end[row]);
        continue;
      }
    }
    rows.push_back(reader.of_device(row));
  }
  if (rows.empty())
    for (const Row row : rank.host_rows())
      if (e.kind[row] == trace::Kind::annotation && is_host_collective(trace.name(rank, row)))
        rows.push_back(reader.of_host(row));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const CollectiveRow& a, const CollectiveRow& b) { return a.start < b.start; });
  return rows;
}

bool synchronizes(Exchange exchange) {
  return exchange == Exchange::all_reduce || exchange == Exchange::all_gather ||
         exchange == Exchange::reduce_scatter || exchange == Exchange::all_to_all ||
         exchange == Exchange::all_to_all_v || exchange == Exchange::barrier;
}

bool is_even(Exchange exchange) {
  return exchange != Exchange::all_to_all_v && exchange != Exchange::gather && exchange != Exchange::scatter;
}

}  // namespace stepscope::derive
