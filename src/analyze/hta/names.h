// Classes of names by HTA's patterns.
#pragma once

#include <cstdint>
#include <string_view>

namespace stepscope::analyze::hta {

/// In HTA's order of precedence in combined labels.
enum class KernelType : std::uint8_t { computation, communication, memory, other };
std::string_view name_of(KernelType type);
/// The types that breakdowns distinguish.
inline constexpr KernelType kWorkTypes[] = {KernelType::computation, KernelType::communication,
                                            KernelType::memory};

KernelType kernel_type(std::string_view name);

/// Launches of kernels, by the pattern (cuda.*LaunchKernel)|(cuLaunchKernel)|(^runFunction).
bool is_kernel_launch(std::string_view name);
/// Calls that put work on a queue.
bool is_queued_launch(std::string_view name);
/// Host calls whose own time counts as waiting on the critical path.
bool blocks(std::string_view name);
/// Categories of the calls that the critical path may contain.
bool holds_calls(std::string_view category);
/// Calls that launch_stats counts; copies and fills only if `with_memory`.
bool is_counted_launch(std::string_view name, bool with_memory);

}  // namespace stepscope::analyze::hta
