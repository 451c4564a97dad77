#include "derive/work/dtype.h"

#include <algorithm>
#include <array>

namespace stepscope::derive {
namespace {

struct RecordedName {
  std::string_view name;
  DType type;
};

constexpr std::array kRecordedNames = {
    RecordedName{"float", DType::float32},
    RecordedName{"c10::BFloat16", DType::bfloat16},
    RecordedName{"c10::Half", DType::float16},
    RecordedName{"double", DType::float64},
    RecordedName{"long int", DType::int64},
    RecordedName{"long", DType::int64},
    RecordedName{"int", DType::int32},
    RecordedName{"short int", DType::int16},
    RecordedName{"short", DType::int16},
    RecordedName{"unsigned char", DType::uint8},
    RecordedName{"signed char", DType::int8},
    RecordedName{"bool", DType::boolean},
    RecordedName{"c10::Float8_e4m3fn", DType::float8},
    RecordedName{"c10::Float8_e5m2", DType::float8},
    RecordedName{"c10::Float8_e4m3fnuz", DType::float8},
    RecordedName{"c10::Float8_e5m2fnuz", DType::float8},
    RecordedName{"c10::Float8_e8m0fnu", DType::float8},
    RecordedName{"c10::Float4_e2m1fn_x2", DType::float4},
    RecordedName{"c10::complex<float>", DType::complex64},
    RecordedName{"c10::complex<double>", DType::complex128},
    RecordedName{"c10::complex<c10::Half>", DType::complex32},
    RecordedName{"short unsigned int", DType::int16},
    RecordedName{"unsigned short", DType::int16},
    RecordedName{"unsigned int", DType::int32},
    RecordedName{"long unsigned int", DType::int64},
    RecordedName{"unsigned long", DType::int64},
    RecordedName{"c10::quint8", DType::uint8},
    RecordedName{"c10::qint8", DType::int8},
    RecordedName{"c10::qint32", DType::int32},
    RecordedName{"c10::quint4x2", DType::quint4},
};

struct Facts {
  DType type;
  std::string_view name;
  std::int64_t bytes;
  int category;  // 0 bool, 1 integer, 2 floating, 3 complex
};

constexpr std::array kFacts = {
    Facts{DType::unknown, "unknown", 0, -1},    Facts{DType::boolean, "bool", 1, 0},
    Facts{DType::uint8, "uint8", 1, 1},         Facts{DType::int8, "int8", 1, 1},
    Facts{DType::int16, "int16", 2, 1},         Facts{DType::int32, "int32", 4, 1},
    Facts{DType::int64, "int64", 8, 1},         Facts{DType::float4, "fp4", 1, 2},
    Facts{DType::float8, "fp8", 1, 2},          Facts{DType::float16, "fp16", 2, 2},
    Facts{DType::bfloat16, "bf16", 2, 2},       Facts{DType::float32, "fp32", 4, 2},
    Facts{DType::float64, "fp64", 8, 2},        Facts{DType::complex32, "complex32", 4, 3},
    Facts{DType::complex64, "complex64", 8, 3}, Facts{DType::complex128, "complex128", 16, 3},
    Facts{DType::quint4, "quint4", 1, 1},
};

const Facts& facts(DType type) { return kFacts[static_cast<std::size_t>(type)]; }

static_assert([] {
  for (std::size_t i = 0; i < kFacts.size(); ++i)
    if (static_cast<std::size_t>(kFacts[i].type) != i) return false;
  return true;
}());

}  // namespace

DType dtype_of(std::string_view recorded_name) {
  const auto found = std::ranges::find(kRecordedNames, recorded_name, &RecordedName::name);
  return found == kRecordedNames.end() ? DType::unknown : found->type;
}

DType dtype_of_code(std::int64_t scalar_type) {
  static constexpr DType kByCode[] = {DType::uint8,     DType::int8,      DType::int16,      DType::int32,
                                      DType::int64,     DType::float16,   DType::float32,    DType::float64,
                                      DType::complex32, DType::complex64, DType::complex128, DType::boolean};
  if (scalar_type >= 0 && scalar_type < std::ssize(kByCode)) return kByCode[scalar_type];
  if ((scalar_type >= 23 && scalar_type <= 26) || scalar_type == 44) return DType::float8;
  return scalar_type == 15 ? DType::bfloat16 : scalar_type == 45 ? DType::float4 : DType::unknown;
}

std::string_view name_of(DType type) { return facts(type).name; }
std::int64_t bytes_per_element(DType type) { return facts(type).bytes; }
int values_per_element(DType type) { return type == DType::float4 || type == DType::quint4 ? 2 : 1; }
bool is_floating(DType type) { return facts(type).category == 2; }
bool is_complex(DType type) { return facts(type).category == 3; }
bool is_integer(DType type) { return facts(type).category == 0 || facts(type).category == 1; }

DType promoted(DType left, DType right) {
  if (left == right) return left;
  if (left == DType::unknown || right == DType::unknown) return DType::unknown;
  const Facts& a = facts(left);
  const Facts& b = facts(right);
  if (is_complex(left) != is_complex(right)) {
    const bool wide = left == DType::float64 || right == DType::float64;
    const DType complex_one = is_complex(left) ? left : right;
    return wide ? DType::complex128 : complex_one;
  }
  if (a.category != b.category) return a.category > b.category ? left : right;
  if (a.bytes != b.bytes) return a.bytes > b.bytes ? left : right;
  if (a.category == 2 && a.bytes == 2) return DType::float32;  // fp16 with bf16
  if (a.category == 1 && a.bytes == 1) return DType::int16;    // uint8 with int8
  return left;
}

}  // namespace stepscope::derive
