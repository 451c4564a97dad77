// OpArgs: the arguments of one recorded op, from the JSON text of `Input Dims`, `Input type`, `Input Strides`
// and `Concrete Inputs`. Text that cannot be parsed becomes an unknown argument, never an error: traces often
// contain such text, and the op then has unknown work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "derive/work/amount.h"
#include "derive/work/dtype.h"

namespace stepscope::derive {

enum class ArgKind : std::uint8_t {
  unknown,      ///< nothing usable was recorded
  none,         ///< None, or a type that the recorder does not know
  scalar,       ///< a number, bool or list of numbers; its value is in `concrete`, if recorded
  tensor,       ///< sizes in `shape`; no sizes means a 0-dimensional tensor, 1 element
  tensor_list,  ///< members in `list`; `sizes_known` is false when the recorder left them out
};

/// Sizes and strides of one tensor, both in elements. `strides` is empty when they were not recorded.
struct Shape {
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> strides;

  std::int64_t rank() const { return static_cast<std::int64_t>(dims.size()); }
};

struct Arg {
  ArgKind kind = ArgKind::unknown;
  DType dtype = DType::unknown;
  bool sizes_known = false;
  Shape shape;
  std::vector<Shape> list;
  std::string concrete;

  bool is_tensor() const { return kind == ArgKind::tensor && sizes_known; }
  bool is_list() const { return kind == ArgKind::tensor_list && sizes_known; }
};

struct OpArgs {
  std::vector<Arg> args;
  bool has_dims = false;
  bool has_types = false;
  bool has_strides = false;
  bool has_concrete = false;

  /// Argument i; of kind unknown if i is past the end or below 0.
  const Arg& at(std::int64_t i) const;
  std::size_t size() const { return args.size(); }
};

/// Each view is the raw JSON array from the file, or empty when the field is absent.
OpArgs parse_op_args(std::string_view dims, std::string_view types, std::string_view strides,
                     std::string_view concrete);

Amount numel(const Shape& shape);  ///< product of the sizes; unknown when one is negative
/// Number of distinct elements: a dimension of stride 0 counts as size 1. numel() when no strides were
/// recorded.
Amount touched_elements(const Shape& shape);
/// Touched elements × bytes per element. Unknown if the type is unknown or the argument is not a tensor.
Amount touched_bytes(const Arg& tensor);
/// Bytes of `count` elements; unknown if the type is unknown.
Amount bytes_of(Amount count, DType type);

/// The value of a scalar argument; empty when it was not recorded or is of another type.
std::optional<std::int64_t> integer_of(const Arg& arg);
std::optional<double> number_of(const Arg& arg);
std::optional<bool> boolean_of(const Arg& arg);
/// The list in "[1, 1]"; for a scalar "1", a list of one. "" gives nullopt, "[]" an empty list.
std::optional<std::vector<std::int64_t>> integers_of(const Arg& arg);
std::optional<std::vector<bool>> booleans_of(const Arg& arg);   ///< "[True, False]"
std::optional<std::vector<double>> numbers_of(const Arg& arg);  ///< "[2., 0.5]"

}  // namespace stepscope::derive
