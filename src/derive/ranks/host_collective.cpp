#include "derive/ranks/host_collective.h"

#include <fmt/format.h>

#include <charconv>

#include "derive/work/op_args.h"

namespace stepscope::derive {
namespace {

/// As collectives of devices call it.
std::string_view dtype_name(DType type) {
  switch (type) {
    case DType::float32:
      return "Float";
    case DType::float64:
      return "Double";
    case DType::float16:
      return "Half";
    case DType::bfloat16:
      return "BFloat16";
    case DType::int64:
      return "Long";
    case DType::int32:
      return "Int";
    case DType::int16:
      return "Short";
    case DType::int8:
      return "Char";
    case DType::uint8:
      return "Byte";
    case DType::boolean:
      return "Bool";
    default:
      return "";
  }
}

/// -1: the file does not say.
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

}  // namespace

std::string only_group(const trace::Rank& rank) {
  if (process_groups(rank) != 1 || rank.world_size < 1 || rank.world_size > kMaxMembers) return "";
  std::string members = "0";
  for (std::int64_t i = 1; i < rank.world_size; ++i) members += fmt::format(", {}", i);
  return members;
}

HostCollectives::HostCollectives(const trace::Trace& trace, const trace::Rank& rank)
    : dims_(trace, rank, "Input Dims"), types_(trace, rank, "Input type") {}

HostCollectives::Message HostCollectives::of(trace::Row row, Exchange exchange, std::int64_t ranks) const {
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
      break;  // which of the tensors are given and which taken is not said
  }
  return message;
}

}  // namespace stepscope::derive
