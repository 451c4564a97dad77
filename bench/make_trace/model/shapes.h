// Arguments of an op and their text in a trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::make_trace {

struct Arg {
  enum class Kind : std::uint8_t { tensor, scalar, none } kind = Kind::none;
  std::vector<std::int64_t> dims;  ///< of a tensor, contiguous unless `transposed`
  std::string value;               ///< of a scalar
  bool transposed = false;
  const char* type = "c10::BFloat16";  ///< of a tensor
};

using Args = std::vector<Arg>;

inline Arg tensor(std::vector<std::int64_t> dims) {
  return {.kind = Arg::Kind::tensor, .dims = std::move(dims), .value = ""};
}
inline Arg transposed(std::vector<std::int64_t> dims) {
  return {.kind = Arg::Kind::tensor, .dims = std::move(dims), .value = "", .transposed = true};
}
inline Arg of_type(const char* type, std::vector<std::int64_t> dims) {
  Arg arg = tensor(std::move(dims));
  arg.type = type;
  return arg;
}
inline Arg indices(std::vector<std::int64_t> dims) { return of_type("long int", std::move(dims)); }
inline Arg floats(std::vector<std::int64_t> dims) { return of_type("float", std::move(dims)); }
inline Arg doubles(std::vector<std::int64_t> dims) { return of_type("double", std::move(dims)); }
inline Arg scalar(std::string value) {
  return {.kind = Arg::Kind::scalar, .dims = {}, .value = std::move(value)};
}
inline Arg none() { return {}; }

/// `"Input Dims": …, "Input type": …, "Input Strides": …, "Concrete Inputs": …,` (the first two only when
/// `old`).
std::string shape_args(const Args& args, bool old);

/// Text for use inside a JSON string.
std::string escaped(std::string_view text);

}  // namespace stepscope::make_trace
