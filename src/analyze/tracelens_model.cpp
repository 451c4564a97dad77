#include "analyze/tracelens_model.h"

#include "analyze/tracelens_names.h"

namespace stepscope::analyze::lens {

using derive::DType;
using trace::Kind;
using trace::Row;

std::string compute_spec(std::string_view sheet, DType type) {
  const bool matrix = sheet == "GEMM" || sheet.starts_with("CONV") || sheet.starts_with("SDPA");
  const std::string_view name = [&]() -> std::string_view {
    switch (type) {
      case DType::float64:
        return "fp64";
      case DType::float32:
        return "fp32";
      case DType::float16:
        return "fp16";
      case DType::bfloat16:
        return "bf16";
      case DType::float8:
      case DType::uint8:
      case DType::int8:
        return "fp8";
      case DType::float4:
        return "fp4";
      default:
        return {};
    }
  }();
  if (name.empty()) return {};
  return std::string(matrix ? "matrix_" : "vector_").append(name);
}

std::string_view transpose_of(std::string_view kernel) {
  static constexpr std::string_view kTexts[] = {"[False, False]", "[False, True]", "[True, False]",
                                                "[True, True]"};
  const auto text = [](bool a, bool b) { return kTexts[2 * a + b]; };
  if (kernel.starts_with("nvjet")) {
    const std::string_view letters = kernel.substr(kernel.rfind('_') + 1);
    const auto is_letter = [](char c) { return c == 'N' || c == 'T'; };
    if (letters.size() < 2 || !is_letter(letters[0]) || !is_letter(letters[1])) return {};
    return text(letters[0] == 'T', letters[1] == 'T');
  }
  if (kernel.find("Cijk_") == kernel.npos) return {};
  return text(kernel.find("_Alik") != kernel.npos, kernel.find("_Bjlk") != kernel.npos);
}

std::string_view transpose_below(const Lens& lens, Row row) {
  for (const Row kernel : lens.tree.below(row)) {
    if (lens.e.kind[kernel] != Kind::kernel) continue;
    if (const std::string_view text = transpose_of(lens.name(kernel)); !text.empty()) return text;
  }
  return {};
}

const Model& Models::of(Row row) {
  const Arguments::Texts texts = arguments_.of(row);
  const std::uint32_t number =
      keys_.of({lens_.e.name[row], texts.dims, texts.types, texts.strides, texts.concrete});
  if (number == models_.size()) models_.push_back(make(row, texts));
  return models_[number];
}

Model Models::make(Row row, const Arguments::Texts& texts) {
  const trace::Trace& trace = lens_.trace;
  const std::string_view op = lens_.name(row);
  const derive::OpArgs args = derive::parse_op_args(trace.text(texts.dims), trace.text(texts.types),
                                                    trace.text(texts.strides), trace.text(texts.concrete));
  constexpr auto kConvention = derive::Convention::tracelens;
  Model model;
  const std::string_view sheet = sheet_of(op);
  model.work =
      backward_ ? derive::backward_work_of(op, args, kConvention) : derive::work_of(op, args, kConvention);
  model.params = param_values(sheet, op, args);
  model.spec = compute_spec(sheet, model.work.compute);
  std::string key;
  for (const std::string& param : model.params) key.append(param).push_back('\n');
  model.params_id =
      params_ids_.try_emplace(key, static_cast<std::uint32_t>(params_ids_.size())).first->second;
  return model;
}

}  // namespace stepscope::analyze::lens
