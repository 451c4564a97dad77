// How one vendor's runtime calls, kernels and categories are spelled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "make_trace/model/program.h"
#include "make_trace/options.h"

namespace stepscope::make_trace {

struct Vendor {
  VendorKind kind = VendorKind::cuda;
  std::string runtime_category;
  CallInfo launch, launch_cooperative, copy_async, fill_async, stream_sync, device_sync, event_record,
      event_wait, stream_state, device_malloc, device_free, load_code, stream_create, stream_priority;
  std::string matmul, matmul_split, add, gelu, gelu_back, embedding, norm, norm_back, norm_weights, sum, fill,
      mse, mse_back, mul, sqrt, addcdiv, addcmul, lerp, fused_step, all_reduce, send_recv;
  std::string matmul_fp32, matmul_split_fp32, matmul_fp64, all_reduce_fp32;
  std::string nonzero_count, nonzero_select, gather, compare, cast_fp64, mul_fp64, fused_chain;
  std::vector<int> stream_ids;  ///< ids in the trace: compute streams, then others
  int comm_stream_id = 0;
};

const Vendor& vendor_of(VendorKind kind);

}  // namespace stepscope::make_trace
