#include "derive/kernel_class.h"

#include <algorithm>

namespace stepscope::derive {
namespace {

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> heads) {
  return std::any_of(heads.begin(), heads.end(),
                     [&](std::string_view head) { return text.starts_with(head); });
}

/// "cudaLaunchKernel" and "hipLaunchKernel" → "LaunchKernel"; "cuLaunchKernel" too.
std::string_view without_vendor(std::string_view call) {
  for (std::string_view vendor : {"cuda", "hip", "cu", "mtia", "xpu", "ze", "ur"})
    if (call.starts_with(vendor) && call.size() > vendor.size()) return call.substr(vendor.size());
  return call;
}

}  // namespace

bool is_collective_kernel(std::string_view name) {
  return contains_any(name, {"ncclDevKernel",
                             "ncclKernel",
                             "nccl",
                             "rccl",
                             "RCCL",
                             "oneccl",
                             "oneCCL",
                             "ccl_kernel",
                             "hccl",
                             "nvshmem",
                             "NVSHMEM",
                             "cross_device_reduce",
                             "multimem_all_reduce",
                             "all_reduce_kernel",
                             "allreduce_kernel",
                             "allreduce_fusion",
                             "quick_all_reduce",
                             "quickreduce",
                             "one_shot_all_reduce",
                             "two_shot_all_reduce",
                             "deep_ep::",
                             "mscclpp"});
}

bool is_library_kernel(std::string_view name) {
  return starts_with_any(name, {"volta_", "turing_", "ampere_", "maxwell_", "sm70_", "sm75_", "sm80_",
                                "sm86_", "sm89_", "sm90_", "sm100_", "Cijk_", "nvjet_", "bmm_"}) ||
         contains_any(name, {"at::native", "at_cuda_detail", "cudnn", "cublas", "cutlass",
                             "cub::", "thrust::", "rocprim", "hipcub", "miopen", "flash", "fmha",
                             "ck::", "cufft", "cusparse"});
}

bool is_fallback_convolution(std::string_view name) {
  return contains_any(name, {"implicit_convolve_sgemm", "conv2d_c1_k1", "fft1d_", "fft2d_"});
}

bool is_host_collective(std::string_view name) { return name.starts_with("gloo:"); }

CopyDirection copy_direction(std::string_view name) {
  if (contains_any(name, {"DtoH", "DeviceToHost", "Device -> Host"})) return CopyDirection::to_host;
  if (contains_any(name, {"HtoD", "HostToDevice", "Host -> Device"})) return CopyDirection::to_device;
  return contains_any(name, {"DtoD", "DeviceToDevice"}) ? CopyDirection::within_device
                                                        : CopyDirection::unknown;
}

HostMemory host_memory(std::string_view name) {
  if (contains_any(name, {"Pageable"})) return HostMemory::pageable;
  if (contains_any(name, {"Pinned"})) return HostMemory::pinned;
  return contains_any(name, {"Managed"}) ? HostMemory::managed : HostMemory::unknown;
}

bool is_launch_call(std::string_view name) {
  const std::string_view call = without_vendor(name);
  return starts_with_any(call, {"LaunchKernel", "LaunchCooperativeKernel", "ExtLaunchKernel",
                                "ModuleLaunchKernel", "ExtModuleLaunchKernel", "GraphLaunch", "Memcpy",
                                "Memset", "EnqueueKernelLaunch", "CommandListAppend", "EnqueueMem"}) ||
         contains_any(name, {"LaunchJob", "launchKernel"});
}

bool is_blocking_call(std::string_view name) {
  const std::string_view call = without_vendor(name);
  if (starts_with_any(call, {"StreamSynchronize", "DeviceSynchronize", "EventSynchronize", "CtxSynchronize",
                             "QueueFinish", "EventWait", "CommandQueueSynchronize", "EventHostSynchronize",
                             "StreamWaitIdle", "synchronizeStream", "synchronizeDevice"}))
    return true;
  return (starts_with_any(call, {"Memcpy"}) && call.find("Async") == std::string_view::npos) ||
         call == "MemcpyWithStream";
}

bool is_allocation_call(std::string_view name) {
  return starts_with_any(
      without_vendor(name),
      {"Malloc", "Free", "HostAlloc", "HostFree", "HostRegister", "HostUnregister", "MemCreate", "MemMap",
       "MemUnmap", "MemRelease", "MemAddressReserve", "MemAddressFree", "MemSetAccess"});
}

bool is_graph_launch(std::string_view name) { return without_vendor(name).starts_with("GraphLaunch"); }

bool is_autograd_node(std::string_view name) { return name.starts_with(kAutogradNode); }

bool is_step_mark(std::string_view name) { return name.starts_with("ProfilerStep"); }

bool is_data_loading(std::string_view name) {
  return starts_with_any(name, {"enumerate(DataLoader)#", "enumerate(DataPipe)#"});
}

}  // namespace stepscope::derive
