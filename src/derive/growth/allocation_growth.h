// How each allocation of a recording grows with the batch size and the sequence length.
#pragma once

#include <vector>

#include "derive/growth/tensor_degrees.h"
#include "derive/memory_records.h"
#include "derive/memory_use.h"
#include "derive/work/dtype.h"

namespace stepscope::derive {

struct AllocationGrowth {
  DegreeRange degree;
  DType type = DType::unknown;  ///< of its elements, as far as the operator's inputs tell
  bool is_parameter = false;    ///< has the shape of a parameter
  bool in_optimizer = false;    ///< in a range Optimizer.step#
  bool is_scratch = false;      ///< fits no shape, so the degrees are bounds
};

/// By record; those of frees are empty. The shape of an allocation is the one that its operator was asked for
/// (aten::empty), else that of a matrix product, else that of an input with as many bytes, else what the
/// dimensions of the inputs multiply to. If none fits: between fixed and the most that an input grows, as
/// scratch memory may do either. Operators without recorded shapes: between fixed and everything.
std::vector<AllocationGrowth> allocation_growth(const trace::Trace& trace, const trace::Rank& rank,
                                                const MemoryRecords& records, const TensorDegrees& degrees);

/// Closes ranges that are open because data and a parameter may have the same shape: what an optimizer made,
/// and what survives a backward pass, is a parameter's; what is an input, or kept for the backward pass or
/// freed in it, is data.
void settle_by_use(std::vector<AllocationGrowth>& growth, const std::vector<MemoryUse>& uses);

}  // namespace stepscope::derive
