// Classes of device work, runtime calls and framework ranges, by name. Vendor names live only here.
#pragma once

#include <cstdint>
#include <string_view>

namespace stepscope::derive {

/// True for kernels of NCCL, RCCL, oneCCL, HCCL, NVSHMEM, DeepEP, MSCCL++ and the custom all-reduces of
/// serving engines.
bool is_collective_kernel(std::string_view name);
/// True for kernels from a vendor's or the framework's library: users cannot tune these kernels.
bool is_library_kernel(std::string_view name);
/// True for the kernels that cuDNN falls back on when it has not measured which kernel is fastest.
bool is_fallback_convolution(std::string_view name);
/// True for host ranges in which a collective runs on the CPU: "gloo:all_reduce".
bool is_host_collective(std::string_view name);

/// Parsed from a copy's name: "Memcpy HtoD (Pageable -> Device)", "CopyDeviceToHost".
enum class CopyDirection : std::uint8_t { unknown, to_device, to_host, within_device };
enum class HostMemory : std::uint8_t { unknown, pageable, pinned, managed };
CopyDirection copy_direction(std::string_view name);
HostMemory host_memory(std::string_view name);

/// True for host calls that start device work (launch, graph launch, async copy or fill).
bool is_launch_call(std::string_view name);
/// True for host calls that return only when device work is done.
bool is_blocking_call(std::string_view name);
/// True for calls that allocate or free device or pinned host memory.
bool is_allocation_call(std::string_view name);
/// True for launches of a captured graph.
bool is_graph_launch(std::string_view name);
/// Prefix of the names of autograd's node ranges; the function's own name follows.
inline constexpr std::string_view kAutogradNode = "autograd::engine::evaluate_function: ";
bool is_autograd_node(std::string_view name);
/// True for "ProfilerStep#N" in every spelling.
bool is_step_mark(std::string_view name);
/// True for "enumerate(DataLoader)#….__next__" and DataPipe ranges.
bool is_data_loading(std::string_view name);

}  // namespace stepscope::derive
