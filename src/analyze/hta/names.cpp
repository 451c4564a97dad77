#include "analyze/hta/names.h"

#include <algorithm>

#include "base/text.h"

namespace stepscope::analyze::hta {

namespace {

template <std::size_t N>
bool begins(std::string_view name, const std::string_view (&heads)[N]) {
  return std::any_of(std::begin(heads), std::end(heads),
                     [&](std::string_view head) { return name.starts_with(head); });
}

bool is_cuda_launch(std::string_view name) { return name.starts_with("cuda") && has(name, "LaunchKernel"); }

constexpr std::string_view kCommunication[] = {"nccl", "hip", "hccl"};
constexpr std::string_view kMemory[] = {"Memcpy", "hipMemcpy", "Memset", "hipMemset", "dma"};
constexpr std::string_view kNoComputation[] = {"Stream Wait Event",
                                               "runFunction",
                                               "job_exe",
                                               "packet",
                                               "pe_exe",
                                               "cpum_exe_subgraph",
                                               "collective_subgraph_execution"};
constexpr std::string_view kNoComputationParts[] = {"Memcpy", "Memset", "dma", "Sync"};

}  // namespace

std::string_view name_of(KernelType type) {
  constexpr std::string_view kNames[] = {"COMPUTATION", "COMMUNICATION", "MEMORY", "OTHER"};
  return kNames[static_cast<std::size_t>(type)];
}

KernelType kernel_type(std::string_view name) {
  if (begins(name, kCommunication) || has(name, "ncclKernel")) return KernelType::communication;
  if (begins(name, kMemory)) return KernelType::memory;
  const bool named_otherwise = std::any_of(std::begin(kNoComputationParts), std::end(kNoComputationParts),
                                           [&](std::string_view part) { return has(name, part); });
  return named_otherwise || begins(name, kNoComputation) || is_cuda_launch(name) ? KernelType::other
                                                                                 : KernelType::computation;
}

bool is_kernel_launch(std::string_view name) {
  return is_cuda_launch(name) || name.starts_with("cuLaunchKernel") || name.starts_with("runFunction");
}

bool is_queued_launch(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "cudaLaunchKernel", "cudaLaunchKernelExC",      "cuLaunchKernel",
      "cuLaunchKernelEx", "cudaMemcpyAsync",          "cudaMemsetAsync",
      "hipLaunchKernel",  "hipExtModuleLaunchKernel", "hipMemsetAsync",
      "hipMemcpyAsync",   "hipMemcpyWithStream",      "runFunction - job_prep_and_submit_for_execution"};
  return is_one_of(name, kNames);
}

bool is_counted_launch(std::string_view name, bool with_memory) {
  constexpr std::string_view kNames[] = {"cudaLaunchKernel", "cudaLaunchKernelExC",
                                         "runFunction - job_prep_and_submit_for_execution"};
  constexpr std::string_view kMemoryNames[] = {"cudaMemcpyAsync", "cudaMemsetAsync"};
  return is_one_of(name, kNames) || (with_memory && is_one_of(name, kMemoryNames));
}

bool blocks(std::string_view name) {
  constexpr std::string_view kNames[] = {"cudaDeviceSynchronize",
                                         "cudaStreamSynchronize",
                                         "cudaEventQuery",
                                         "cudaEventSynchronize",
                                         "cudaMemcpy",
                                         "cudaMemcpyAsync"};
  return is_one_of(name, kNames);
}

bool holds_calls(std::string_view category) {
  constexpr std::string_view kNames[] = {"cpu_op", "cuda_runtime", "cuda_driver"};
  return is_one_of(category, kNames);
}

}  // namespace stepscope::analyze::hta
