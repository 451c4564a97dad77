// A recorded op for tests, in short form: sizes as JSON, type names separated by ';', concrete values in
// order.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "derive/work/op_args.h"
#include "derive/work/work.h"

namespace stepscope::derive {

/// Example: op("[[2,3],[3,4]]", "bf;bf"). "bf" and "half" stand for the c10 names, "S" for Scalar, "SL" for
/// ScalarList, "TL" for TensorList, "-" for None. Without `concrete` that field is absent, as in older files.
inline OpArgs op(std::string_view dims, std::string_view types,
                 std::initializer_list<std::string_view> concrete = {}, std::string_view strides = "") {
  std::string type_json = "[";
  while (true) {
    const std::size_t end = types.find(';');
    std::string_view name = types.substr(0, end);
    if (name == "bf") name = "c10::BFloat16";
    if (name == "half") name = "c10::Half";
    if (name == "fp8") name = "c10::Float8_e4m3fn";
    if (name == "S") name = "Scalar";
    if (name == "SL") name = "ScalarList";
    if (name == "TL") name = "TensorList";
    if (name == "-") name = "";
    type_json += "\"" + std::string(name) + "\"";
    if (end == std::string_view::npos) break;
    type_json += ",";
    types.remove_prefix(end + 1);
  }
  type_json += "]";
  std::string concrete_json;
  for (const std::string_view value : concrete)
    concrete_json += std::string(concrete_json.empty() ? "[" : ",") + "\"" + std::string(value) + "\"";
  if (!concrete_json.empty()) concrete_json += "]";
  return parse_op_args(dims, type_json, strides, concrete_json);
}

/// Expects the work of an op that uses no matrix units.
inline void expect_vector_work(std::string_view name, const OpArgs& args, std::int64_t flops,
                               std::int64_t read, std::int64_t written) {
  const Work work = work_of(name, args);
  SCOPED_TRACE(name);
  ASSERT_TRUE(work.flops_known && work.bytes_known) << work.unknown_reason;
  EXPECT_EQ(work.matrix_flops, 0);
  EXPECT_EQ(work.vector_flops, flops);
  EXPECT_EQ(work.bytes_read, read);
  EXPECT_EQ(work.bytes_written, written);
}

}  // namespace stepscope::derive
