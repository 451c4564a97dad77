#include "analyze/memory/held_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "analyze/memory/chosen_records.h"

namespace stepscope::analyze {
namespace {

using derive::Allocation;
using derive::kNoEvent;

constexpr std::array<std::string_view, 7> kGroupNames = {"line", "function", "stack",   "module",
                                                         "size", "age",      "category"};

HeldBy place_of(HeldGroup by) {
  return by == HeldGroup::function ? HeldBy::function : by == HeldGroup::stack ? HeldBy::stack : HeldBy::line;
}

/// Classes of sizes, each 16 times the one before.
std::string size_class(std::int64_t bytes) {
  constexpr std::array<std::pair<std::int64_t, std::string_view>, 7> kFrom = {
      {{0, "below 4 KiB"},
       {std::int64_t{4} << 10, "4 KiB to 64 KiB"},
       {std::int64_t{64} << 10, "64 KiB to 1 MiB"},
       {std::int64_t{1} << 20, "1 MiB to 16 MiB"},
       {std::int64_t{16} << 20, "16 MiB to 256 MiB"},
       {std::int64_t{256} << 20, "256 MiB to 4 GiB"},
       {std::int64_t{4} << 30, "4 GiB and more"}}};
  std::string_view name = kFrom.front().second;
  for (const auto& [from, of] : kFrom)
    if (bytes >= from) name = of;
  return std::string(name);
}

/// "in the last 10 events", "10 to 99 events before".
std::string age_in_events(std::int64_t events) {
  std::int64_t from = 1;
  while (events >= from * 10) from *= 10;
  return from == 1 ? "in the last 10 events" : fmt::format("{} to {} events before", from, from * 10 - 1);
}

/// "in this step", "1 step before", "2 to 3 steps before", "4 to 7 steps before".
std::string age_in_steps(std::uint64_t steps) {
  if (steps == 0) return "in this step";
  if (steps == 1) return "1 step before";
  const std::uint64_t from = std::bit_floor(steps);
  return fmt::format("{} to {} steps before", from, from * 2 - 1);
}

}  // namespace

HeldGroup held_group(const report::Params& params) {
  const auto at = std::ranges::find(kGroupNames, params.text("by", "line"));
  return at == kGroupNames.end() ? HeldGroup::line : static_cast<HeldGroup>(at - kGroupNames.begin());
}

HeldGroups::HeldGroups(const Derived& derived, const trace::Rank& rank, std::size_t device, HeldGroup by,
                       std::int64_t at, std::vector<std::string>& notes)
    : trace_(derived.trace()),
      device_(rank.snapshot->devices[device]),
      moments_(rank),
      by_(by),
      at_(at),
      places_(derived.trace(), *rank.snapshot, place_of(by)) {
  if (by_ == HeldGroup::age) steps_ = &memory_steps_of(derived, rank)[device].found.begins;
  if (by_ == HeldGroup::module) {
    if (moments_.overlap(device_)) modules_ = module_paths(trace_, rank, derived.choice());
    if (modules_ && modules_->paths.size() > 0) return;
    by_ = HeldGroup::line;
    notes.push_back(
        fmt::format("Device {}: no module of its allocations is known. Record the same run with "
                    "with_stack=True (stepscope.profiler: "
                    "with_modules=True), and give that file with the snapshot.",
                    device_.number));
  }
  if (by_ == HeldGroup::category) {
    for (const trace::EventExtra& extra : device_.extras)
      if (trace_.text(extra.key) == "category") category_[extra.event] = extra.value;
    if (!category_.empty()) return;
    by_ = HeldGroup::line;
    notes.push_back(
        fmt::format("Device {}: its events name no category. `stepscope memory-categories` infers them from "
                    "a recording with "
                    "profile_memory=True.",
                    device_.number));
  }
}

std::size_t HeldGroups::number_of(const Allocation& of) {
  if (by_place()) return places_.number_of(of.stack, of.event == kNoEvent);
  const auto [found, is_new] = by_name_.try_emplace(name_of(of), names_.size());
  if (is_new) names_.push_back(found->first);
  return found->second;
}

std::string HeldGroups::name_of(const Allocation& of) const {
  if (by_ == HeldGroup::size) return size_class(of.bytes);
  if (of.event == kNoEvent) return std::string(kBeforeRecording);
  if (by_ == HeldGroup::module) return module_of(of.event);
  if (by_ == HeldGroup::age) return age_of(of.event);
  const auto named = category_.find(of.event);
  return named == category_.end() ? "no category" : std::string(trace_.text(named->second));
}

std::string HeldGroups::age_of(std::uint32_t event) const {
  if (steps_->empty()) return age_in_events(at_ - std::int64_t{event});
  const auto step_of = [&](std::int64_t of) {
    return std::ranges::upper_bound(*steps_, of) - steps_->begin();
  };
  return age_in_steps(static_cast<std::uint64_t>(step_of(at_) - step_of(event)));
}

std::string HeldGroups::module_of(std::uint32_t event) const {
  const derive::RunMoment moment = moments_.at(device_.events.time[event]);
  return moment.op == trace::kNoRow ? "outside of the recorded ops" : module_path_of(*modules_, moment.inner);
}

std::string module_path_of(const ModulePaths& modules, trace::Row row) {
  const derive::PathId forward = modules.host.path[row];
  const derive::PathId path = forward != derive::kNoPath ? forward : modules.backward[row];
  if (path == derive::kNoPath) return "outside modules";
  std::string text;
  for (derive::PathId at = path; at != derive::kNoPath; at = modules.paths.parent(at))
    text = std::string(modules.paths.name(at)) + (text.empty() ? "" : "/") + text;
  return (forward == derive::kNoPath ? "backward of " : "") + text;
}

}  // namespace stepscope::analyze
