#include "make_trace/model/shapes.h"

#include <fmt/format.h>

namespace stepscope::make_trace {
namespace {

std::string list(const std::vector<std::int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

std::vector<std::int64_t> strides(const Arg& arg) {
  std::vector<std::int64_t> out(arg.dims.size(), 1);
  if (arg.transposed && arg.dims.size() == 2) {
    out[1] = arg.dims[0];
    return out;
  }
  for (std::size_t i = out.size(); i > 1; --i) out[i - 2] = out[i - 1] * arg.dims[i - 1];
  return out;
}

std::string type_of(const Arg& arg, bool old) {
  if (arg.kind == Arg::Kind::tensor) return fmt::format("\"{}\"", arg.type);
  if (arg.kind == Arg::Kind::scalar) return old ? "\"Int\"" : "\"Scalar\"";
  return "\"\"";
}

}  // namespace

std::string shape_args(const Args& args, bool old) {
  std::vector<std::string> dims, types, steps, values;
  for (const Arg& arg : args) {
    dims.push_back(list(arg.dims));
    types.push_back(type_of(arg, old));
    steps.push_back(list(strides(arg)));
    values.push_back('"' + arg.value + '"');
  }
  const auto joined = [](const std::vector<std::string>& parts) {
    return fmt::format("[{}]", fmt::join(parts, ", "));
  };
  std::string text = fmt::format("\"Input Dims\": {}, \"Input type\": {}, ", joined(dims), joined(types));
  if (old) return text;
  return text +
         fmt::format("\"Input Strides\": {}, \"Concrete Inputs\": {}, ", joined(steps), joined(values));
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace stepscope::make_trace
