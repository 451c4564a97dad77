// DType: the element types of tensors in recorded ops, their sizes, and torch's rule for combining two types.
#pragma once

#include <cstdint>
#include <string_view>

namespace stepscope::derive {

enum class DType : std::uint8_t {
  unknown,
  boolean,
  uint8,
  int8,
  int16,
  int32,
  int64,
  float4,  ///< two values in each recorded element (e2m1 x2)
  float8,  ///< every 8-bit float: e4m3, e5m2, their fnuz forms, and the e8m0 scale
  float16,
  bfloat16,
  float32,
  float64,
  complex32,
  complex64,
  complex128,
  quint4,  ///< two values in each recorded element
};

/// The type for a name in `Input type`; the 2021 dialect's `long` is `long int`. Scalars ("Scalar", "Int",
/// "Bool", "Double" with a capital) and unknown names give DType::unknown.
DType dtype_of(std::string_view recorded_name);

/// The type for a `ScalarType` code, as recorded in Concrete Inputs for `out_dtype` and `dtype` arguments.
DType dtype_of_code(std::int64_t scalar_type);

/// A short name ("bf16", "fp32", "int64"); "unknown" for DType::unknown.
std::string_view name_of(DType type);

/// Bytes of one recorded element; 0 when the type is unknown.
std::int64_t bytes_per_element(DType type);

/// Values in one recorded element: 2 for the packed 4-bit types, else 1.
int values_per_element(DType type);

bool is_floating(DType type);
bool is_complex(DType type);
bool is_integer(DType type);  ///< bool counts as an integer

/// torch's promotion of two tensor operands that both have dimensions: the category (bool < integer < float <
/// complex) decides first, the width second. If either type is unknown, so is the result.
DType promoted(DType left, DType right);

}  // namespace stepscope::derive
