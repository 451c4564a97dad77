// How TraceLens sorts ops and kernels by their names.
#pragma once

#include <string_view>

namespace stepscope::analyze::lens {

/// "GEMM", "CONV_fwd", …, "elementwise", "reduce", "other"; `first_kernel` is the first kernel that the op
/// launched.
std::string_view category_of(std::string_view op, std::string_view first_kernel);

/// The sheet on which the op has rows because TraceLens has a model for it; "" when it has none.
std::string_view sheet_of(std::string_view op);

/// The sheet of the backward rows that TraceLens makes from a forward op; "" when it makes none.
std::string_view backward_sheet_of(std::string_view op);

/// nccl, rccl or cross_device_reduce anywhere in the name, in either case.
bool is_communication(std::string_view kernel);

}  // namespace stepscope::analyze::lens
