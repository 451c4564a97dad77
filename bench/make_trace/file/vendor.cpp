#include "make_trace/file/vendor.h"

namespace stepscope::make_trace {
namespace {

std::vector<int> stream_ids(int first, int next, int distance) {
  std::vector<int> ids = {first};
  for (int i = 0; i < 15; ++i) ids.push_back(next + i * distance);
  return ids;
}

std::string elementwise(const std::string& functor) {
  return "void at::native::vectorized_elementwise_kernel<4, at::native::" + functor +
         ", std::array<char*, 3ul> >(int, at::native::" + functor + ", std::array<char*, 3ul>)";
}

void name_pointwise(Vendor& v) {
  v.add = elementwise("CUDAFunctor_add<c10::BFloat16>");
  v.gelu = elementwise("GeluCUDAKernelImpl<c10::BFloat16>");
  v.gelu_back = elementwise("GeluBackwardCUDAKernelImpl<c10::BFloat16>");
  v.fill = elementwise("FillFunctor<c10::BFloat16>");
  v.mul = elementwise("AUnaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, MulFunctor<float> >");
  v.sqrt = elementwise("sqrt_kernel_cuda<c10::BFloat16>");
  v.addcdiv = elementwise("addcdiv_cuda_kernel<c10::BFloat16>");
  v.addcmul = elementwise("addcmul_cuda_kernel<c10::BFloat16>");
  v.lerp = elementwise("lerp_scalar_kernel<c10::BFloat16>");
  v.mse = elementwise("mse_kernel_cuda<c10::BFloat16>");
  v.mse_back = elementwise("mse_backward_cuda_kernel<c10::BFloat16>");
  v.compare = elementwise("CompareFunctor<c10::BFloat16>");
  v.mul_fp64 = elementwise("AUnaryFunctor<double, double, double, MulFunctor<double> >");
  v.cast_fp64 = elementwise("direct_copy_kernel_cuda<double, c10::BFloat16>");
  v.fused_chain = "triton_poi_fused_add_mul_sigmoid_0";
  v.nonzero_count =
      "void at_cuda_detail::cub::DeviceReduceSingleTileKernel<at_cuda_detail::cub::DeviceReducePolicy<int, "
      "int, int, cuda::std::plus<void> >::Policy600, int*, int*, int, cuda::std::plus<void>, int, int>(int*, "
      "int*, int, cuda::std::plus<void>, int)";
  v.nonzero_select =
      "void at_cuda_detail::cub::DeviceSelectSweepKernel<at_cuda_detail::cub::CountingInputIterator<long, "
      "long>, bool const*, long*, int*>(long*, int)";
  v.gather =
      "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<at::native::"
      "index_kernel_impl<c10::BFloat16> > >(long)";
  v.embedding =
      "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, "
      "2, -2, "
      "true>(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>, long)";
  v.norm =
      "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, "
      "float, "
      "c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)";
  v.norm_back =
      "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16, "
      "float>(c10::BFloat16 const*, c10::BFloat16 const*, float const*, float const*, int)";
  v.norm_weights =
      "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<c10::BFloat16, "
      "float, 32u>(long, long, c10::BFloat16 const*, c10::BFloat16 const*)";
  v.sum =
      "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, "
      "at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor>, unsigned int> >()";
  v.fused_step =
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedOptimizerTensorListMetadata"
      "<4>, FusedAdamMathFunctor<c10::BFloat16, 4> >(FusedOptimizerTensorListMetadata<4>)";
}

Vendor cuda() {
  Vendor v;
  v.runtime_category = "cuda_runtime";
  v.launch = {"cudaLaunchKernel", 211, true};
  v.launch_cooperative = {"cudaLaunchKernelExC", 430, true};
  v.copy_async = {"cudaMemcpyAsync", 41, true};
  v.fill_async = {"cudaMemsetAsync", 51, true};
  v.stream_sync = {"cudaStreamSynchronize", 131, true};
  v.device_sync = {"cudaDeviceSynchronize", 165, true};
  v.event_record = {"cudaEventRecord", 135, false};
  v.event_wait = {"cudaStreamWaitEvent", 147, true};
  v.stream_state = {"cudaStreamIsCapturing", 317, false};
  v.device_malloc = {"cudaMalloc", 20, false};
  v.device_free = {"cudaFree", 22, false};
  v.load_code = {"cudaFuncGetAttributes", 15, false};
  v.stream_priority = {"cudaDeviceGetStreamPriorityRange", 205, false};
  v.stream_create = {"cudaStreamCreateWithPriority", 132, false};
  name_pointwise(v);
  v.matmul = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn";
  v.matmul_split = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nt";
  v.matmul_fp32 = "ampere_sgemm_128x128_tn";
  v.matmul_split_fp32 = "ampere_sgemm_128x128_nt";
  v.matmul_fp64 = "ampere_dgemm_64x64_tn";
  v.all_reduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  v.all_reduce_fp32 = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  v.send_recv = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
  v.stream_ids = stream_ids(7, 28, 4);
  v.comm_stream_id = 20;
  return v;
}

Vendor rocm() {
  Vendor v;
  v.kind = VendorKind::rocm;
  v.runtime_category = "cuda_runtime";
  v.launch = {"hipLaunchKernel", 107, true};
  v.launch_cooperative = {"hipExtLaunchKernel", 70, true};
  v.copy_async = {"hipMemcpyAsync", 134, true};
  v.fill_async = {"hipMemsetAsync", 170, true};
  v.stream_sync = {"hipStreamSynchronize", 293, true};
  v.device_sync = {"hipDeviceSynchronize", 49, true};
  v.event_record = {"hipEventRecord", 60, false};
  v.event_wait = {"hipStreamWaitEvent", 294, true};
  v.stream_state = {"hipStreamIsCapturing", 290, false};
  v.device_malloc = {"hipMalloc", 113, false};
  v.device_free = {"hipFree", 76, false};
  v.load_code = {"hipModuleLoadData", 209, false};
  v.stream_priority = {"hipDeviceGetStreamPriorityRange", 40, false};
  v.stream_create = {"hipStreamCreateWithPriority", 286, false};
  name_pointwise(v);
  v.matmul = "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x256x64_MI16x16x1";
  v.matmul_split = "Cijk_Ailk_Bjlk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x256x64_MI16x16x1";
  v.matmul_fp32 = "Cijk_Alik_Bljk_SB_MT128x64x16_SE_K1_VAW1";
  v.matmul_split_fp32 = "Cijk_Ailk_Bjlk_SB_MT128x64x16_SE_K1_VAW1";
  v.matmul_fp64 = "Cijk_Alik_Bljk_DB_MT64x64x16_SE_K1_VAW1";
  v.all_reduce = v.all_reduce_fp32 = v.send_recv = "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)";
  v.stream_ids = stream_ids(0, 8, 1);
  v.comm_stream_id = 4;
  return v;
}

Vendor xpu() {
  Vendor v;
  v.kind = VendorKind::xpu;
  v.runtime_category = "xpu_runtime";
  v.launch = {"urEnqueueKernelLaunch", 0, true};
  v.launch_cooperative = {"urEnqueueCooperativeKernelLaunchExp", 0, true};
  v.copy_async = {"urEnqueueUSMMemcpy", 0, true};
  v.fill_async = {"urEnqueueUSMFill", 0, true};
  v.stream_sync = {"urQueueFinish", 0, false};
  v.device_sync = {"urQueueFinish", 0, false};
  v.event_record = {"urEnqueueEventsWaitWithBarrier", 0, false};
  v.event_wait = {"urEnqueueEventsWait", 0, false};
  v.stream_state = {"urQueueGetInfo", 0, false};
  v.device_malloc = {"urUSMDeviceAlloc", 0, false};
  v.device_free = {"urUSMFree", 0, false};
  v.load_code = {"urProgramBuild", 0, false};
  v.stream_priority = {"urContextCreate", 0, false};
  v.stream_create = {"urQueueCreate", 0, false};
  name_pointwise(v);
  v.matmul = "gemm_kernel";
  v.matmul_split = "gemm_kernel_split";
  v.matmul_fp32 = v.matmul_fp64 = "gemm_kernel";
  v.matmul_split_fp32 = "gemm_kernel_split";
  v.all_reduce = v.all_reduce_fp32 = "oneccl_allreduce_kernel";
  v.send_recv = "oneccl_sendrecv_kernel";
  v.stream_ids = stream_ids(1, 8, 1);
  v.comm_stream_id = 3;
  return v;
}

}  // namespace

const Vendor& vendor_of(VendorKind kind) {
  static const Vendor kCuda = cuda();
  static const Vendor kRocm = rocm();
  static const Vendor kXpu = xpu();
  switch (kind) {
    case VendorKind::rocm:
      return kRocm;
    case VendorKind::xpu:
      return kXpu;
    case VendorKind::cuda:
      break;
  }
  return kCuda;
}

}  // namespace stepscope::make_trace
