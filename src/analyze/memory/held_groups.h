// Groups of the allocations that are alive at an instant: by place in the program, or by what they are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyze/host/module_paths.h"
#include "analyze/memory/memory_instants.h"
#include "analyze/memory/memory_steps.h"
#include "derive/allocator/run_moments.h"

namespace stepscope::analyze {

enum class HeldGroup : std::uint8_t { line, function, stack, module, size, age, category };

inline constexpr report::ParamSpec kHeldGroupParam = {
    "by", report::ParamSpec::Type::choice, "line", "line|function|stack|module|size|age|category",
    "what holds memory: the innermost line or function of the program, the whole stack, the module (if a "
    "recording of the same "
    "run was given, too), or allocations of like size, age or category"};
HeldGroup held_group(const report::Params& params);

/// Numbers the groups of a device's allocations, in the order in which they are asked for.
class HeldGroups {
 public:
  /// `at`: the instant to which ages count. What `by` needs and the files lack is said in `notes`; the groups
  /// are then functions.
  HeldGroups(const Derived& derived, const trace::Rank& rank, std::size_t device, HeldGroup by,
             std::int64_t at, std::vector<std::string>& notes);

  std::size_t number_of(const derive::Allocation& of);
  const std::vector<std::string>& names() const { return by_place() ? places_.names() : names_; }
  /// Whether a group is a set of stacks.
  bool by_place() const { return by_ <= HeldGroup::stack; }
  AllocationPlaces& places() { return places_; }

 private:
  std::string name_of(const derive::Allocation& of) const;
  std::string age_of(std::uint32_t event) const;
  std::string module_of(std::uint32_t event) const;

  const trace::Trace& trace_;
  const trace::MemoryOfDevice& device_;
  const std::vector<std::uint32_t>* steps_ = nullptr;  ///< of ages: the events at which they begin
  derive::RunMoments moments_;
  HeldGroup by_;
  std::int64_t at_;
  AllocationPlaces places_;
  std::optional<ModulePaths> modules_;
  std::map<std::uint32_t, trace::StringId> category_;  ///< by event
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::vector<std::string> names_;
};

/// "model/layer1(Block)/conv(Conv2d)": the module in which a host range runs, or whose backward it is;
/// "outside modules".
std::string module_path_of(const ModulePaths& modules, trace::Row row);

}  // namespace stepscope::analyze
