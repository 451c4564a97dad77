// What HTA's patterns make of names. Only --hta-compat asks: the engine's own classes are in derive.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace stepscope::analyze {

/// In HTA's order of precedence in combined labels.
enum class KernelType : std::uint8_t { computation, communication, memory, other };
std::string_view name_of(KernelType type);
/// Those that breakdowns tell apart.
inline constexpr KernelType kWorkTypes[] = {KernelType::computation, KernelType::communication,
                                            KernelType::memory};

namespace hta {

template <std::size_t N>
bool is_one_of(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

KernelType kernel_type(std::string_view name);

/// Launches of kernels, by the pattern (cuda.*LaunchKernel)|(cuLaunchKernel)|(^runFunction).
bool is_kernel_launch(std::string_view name);
/// Calls whose work a queue holds.
bool is_queued_launch(std::string_view name);
/// Calls that launch_stats looks at; copies and fills only `with_memory`.
bool is_counted_launch(std::string_view name, bool with_memory);

}  // namespace hta
}  // namespace stepscope::analyze
