// What TraceLens's performance models say of a call: work, precision, and the parameters that its sheets
// show.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/tracelens_call.h"
#include "derive/op_args.h"
#include "derive/work.h"

namespace stepscope::analyze::lens {

/// Names of the sheet's parameter columns.
std::span<const std::string_view> param_names(std::string_view sheet);
/// Their values for a call, as texts: sizes as "[8, 16]", types as "bf16", True and False.
std::vector<std::string> param_values(std::string_view sheet, std::string_view op,
                                      const derive::OpArgs& args);

/// "matrix_bf16" or "vector_fp32" by the type of the first operand; "" for types it does not know.
std::string compute_spec(std::string_view sheet, derive::DType type);

/// "[True, False]": whether the operands of a product are transposed, from the names of nvjet and Tensile
/// kernels; "" for others.
std::string_view transpose_of(std::string_view kernel);

/// One distinct set of arguments of one op.
struct Model {
  derive::Work work;
  std::vector<std::string> params;
  std::uint32_t params_id = 0;  ///< equal for equal params
  std::string spec;
};

/// Models by name and arguments, each made once.
class Models {
 public:
  /// `backward`: of the backward pass that belongs to a forward op.
  Models(const Lens& lens, const Arguments& arguments, bool backward = false)
      : lens_(lens), arguments_(arguments), backward_(backward) {}
  const Model& of(trace::Row row);

 private:
  Model make(trace::Row row, const Arguments::Texts& texts);

  const Lens& lens_;
  const Arguments& arguments_;
  const bool backward_;
  Keys keys_;
  std::deque<Model> models_;  // rows of a sheet point at them
  std::unordered_map<std::string, std::uint32_t> params_ids_;
};

/// The transpose parameter of the first kernel under a product that shows it.
std::string_view transpose_below(const Lens& lens, trace::Row row);

}  // namespace stepscope::analyze::lens
