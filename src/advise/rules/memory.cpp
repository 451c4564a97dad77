// Rules of device memory (A).
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "advise/cite.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Unit;

std::vector<const analyze::MemoryPeak*> peaks_of(const Evidence& e) {
  return e.mine(e.reports().memory_events.peaks, "Peak of each memory");
}

constexpr std::string_view kAllocationDoc =
    R"(Looks for idle time of cause `alloc` (`idle`): the device waits while memory is allocated, freed or
mapped, for at least `kAllocationShare` of the window. Saving: replay without these calls, at least
`kAllocationPessimism` of it. A warm caching allocator makes no such calls in steady steps; library workspaces
that are made once stay below the share.)";

std::optional<Claim> allocation(const Evidence& e, Bound) {
  const std::int64_t cost = e.idle(IdleCause::alloc);
  if (e.share(cost) < kAllocationShare) return std::nullopt;
  Claim f = claim(e, RuleId::A01,
                  fmt::format("{}: device memory is allocated or freed inside the step", of_step(e, cost)));
  save(f, cost / e.steps(), kAllocationPessimism, 1.0);
  change(f, {scale_of(Scale::What::alloc, 0)}, kAllocationPessimism);
  f.confidence = Confidence::medium;
  f.because = "a warm caching allocator makes no such calls";
  f.evidence = {
      see::idle(fmt::format("cause alloc, {}{}", per_step(e, cost), longest_idle(e, IdleCause::alloc)))};
  f.at = longest_idle_moment(e, IdleCause::alloc);
  f.remedy =
      "Remove empty_cache() from the loop; PYTORCH_ALLOC_CONF=expandable_segments:True "
      "(PYTORCH_CUDA_ALLOC_CONF before PyTorch 2.9); keep shapes fixed.";
  f.verify = "No malloc or free calls of the runtime remain in steady steps.";
  return f;
}

constexpr std::string_view kLimitDoc =
    R"(Looks for a peak of allocated memory (`memory_events`) above `kMemoryShare` of the device's memory. A
risk without a saving. Silent without `[memory]` events. The remedy names the module whose checkpointing lowers
the peak most (`checkpointing`), if that brings it below `kMemoryShare`.)";

/// The module whose checkpointing leaves least of the peak.
const analyze::CheckpointedModule* best_checkpoint(const Evidence& e, const derive::MemoryDevice& memory) {
  for (const analyze::CheckpointedModule* of :
       e.mine(e.reports().checkpointing.modules, "Peak with every call of a module checkpointed"))
    if (of->memory == memory) return of;  // the lowest first
  return nullptr;
}

std::optional<Claim> memory_limit(const Evidence& e, Bound) {
  for (const analyze::MemoryPeak* peak : peaks_of(e)) {
    for (const analyze::DeviceUse* device : e.mine(e.reports().devices.devices, "Devices")) {
      if (device->memory <= 0 || peak->memory.host() || peak->memory.id != device->device) continue;
      const double share = static_cast<double>(peak->allocated) / static_cast<double>(device->memory);
      if (share <= kMemoryShare) continue;
      Claim f = claim(
          e, RuleId::A02,
          fmt::format("Device {} is nearly full: peak {} of {}", device->device,
                      format_value(peak->allocated, Unit::bytes), format_value(device->memory, Unit::bytes)));
      f.confidence = Confidence::medium;
      f.because = "the allocator reports it; a risk, not a cost of time";
      f.evidence = {see::memory_events("peak, and what was allocated then")};
      f.remedy = "Checkpoint activations, mixed precision, a smaller micro-batch with accumulation.";
      const analyze::CheckpointedModule* best = best_checkpoint(e, peak->memory);
      if (best != nullptr &&
          static_cast<double>(best->high) <= kMemoryShare * static_cast<double>(device->memory)) {
        f.remedy = fmt::format(
            "torch.utils.checkpoint.checkpoint(block, inputs, use_reentrant=False) around each {}: the peak "
            "falls to "
            "{}, and the backward pass repeats its calls. Or mixed precision, or a smaller micro-batch with "
            "accumulation.",
            best->module, format_value(best->high, Unit::bytes));
        f.evidence.push_back(see::checkpointing(best->module));
      }
      f.verify = "Peak under 90 %.";
      f.effort = Effort::code;
      return f;
    }
  }
  return std::nullopt;
}

constexpr std::string_view kFragmentedDoc =
    R"(Looks for memory that the allocator holds but the program does not use at the peaks (`memory_events`:
peak_reserved - peak_allocated): more than `kFragmentedShare` of the reserved memory, and more than
`kFragmentedBytes`. A hint without a saving: the next larger tensor may fail although memory is free. Low
confidence: totals do not show how large the free blocks are.)";

std::optional<Claim> fragmentation(const Evidence& e, Bound) {
  for (const analyze::MemoryPeak* peak : peaks_of(e)) {
    const std::int64_t used = peak->allocated, held = peak->reserved;
    if (used <= 0 || held <= 0 || held - used <= kFragmentedBytes ||
        static_cast<double>(held - used) <= kFragmentedShare * static_cast<double>(held))
      continue;
    Claim f = claim(e, RuleId::A04,
                    fmt::format("The allocator holds {}, but the program uses at most {} of it",
                                format_value(held, Unit::bytes), format_value(used, Unit::bytes)));
    f.confidence = Confidence::low;
    f.because = "totals do not show how large the free blocks are; it costs no time";
    f.evidence = {see::memory_events("peak_reserved, peak_allocated of " + peak->memory.name())};
    f.remedy =
        "PYTORCH_ALLOC_CONF=expandable_segments:True (PYTORCH_CUDA_ALLOC_CONF before PyTorch 2.9), or "
        "max_split_size_mb; run the largest batch first.";
    f.verify = "memory_events: peak_reserved near peak_allocated.";
    return f;
  }
  return std::nullopt;
}

constexpr std::string_view kGrowthDoc =
    R"(Looks for a memory whose lowest level (`memory_events`: memory of each step) rises in each of at least
`kGrowingSteps` steps, by more than `kGrowthBytes` and `kGrowthShare` of the peak per step (median of the
slopes between all pairs of steps, Theil and Sen). No saving: such a program runs out of memory. Low
confidence, as caches that warm up and sequences that grow look the same in a short recording. If Python
calls are recorded and `kKeptInFunction` of what is never freed was made in one function, the innermost such
function is named, and the finding stands first, at medium confidence.)";

/// The innermost function that made most of what is never freed; nullptr without one.
const analyze::KeptFunction* keeper(const Evidence& e, const derive::MemoryDevice& memory) {
  const analyze::KeptFunction* found = nullptr;
  for (const analyze::KeptFunction* of :
       e.mine(e.reports().memory_events.kept_in, "Never freed, by function"))
    if (of->memory == memory && of->share >= kKeptInFunction &&
        (found == nullptr || of->depth > found->depth))
      found = of;
  return found;
}

/// Median slope over all pairs of values, which are one step apart; 0 unless every value rises.
std::int64_t steady_growth(const std::vector<std::int64_t>& levels) {
  std::vector<std::int64_t> slopes;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (i > 0 && levels[i] <= levels[i - 1]) return 0;
    for (std::size_t j = 0; j < i; ++j)
      slopes.push_back((levels[i] - levels[j]) / static_cast<std::int64_t>(i - j));
  }
  return slopes.empty() ? 0 : report::quantile(slopes, 0.5);
}

std::optional<Claim> growth(const Evidence& e, Bound) {
  constexpr std::size_t kMaxSteps = 1'000;  // enough for the median; the pairs grow quadratically
  const auto steps = e.mine(e.reports().memory_events.steps, "Memory of each step");
  for (std::size_t first = 0, last = 0; first < steps.size(); first = last) {  // the rows of one memory
    std::vector<std::int64_t> levels;
    std::int64_t peak = 0;
    for (; last < steps.size() && steps[last]->memory == steps[first]->memory; ++last) {
      if (levels.size() >= kMaxSteps) continue;
      levels.push_back(steps[last]->lowest);
      peak = std::max(peak, steps[last]->highest);
    }
    const std::int64_t each = steady_growth(levels);
    if (levels.size() < kGrowingSteps || each <= kGrowthBytes ||
        static_cast<double>(each) <= kGrowthShare * static_cast<double>(peak))
      continue;
    Claim f = claim(e, RuleId::A05,
                    fmt::format("Memory of {} grows by {} in each of {} steps", steps[first]->memory.name(),
                                format_value(each, Unit::bytes), levels.size()));
    f.confidence = Confidence::low;
    f.because = "its lowest level rises from step to step; caches that warm up look the same";
    f.evidence = {see::memory_events("memory of each step; never freed")};
    if (const analyze::KeptFunction* of = keeper(e, steps[first]->memory)) {
      f.title +=
          fmt::format("; {} of what stays is made in {}", format_value(of->share, Unit::share), of->function);
      f.confidence = Confidence::medium;
      f.because = "its lowest level rises from step to step, and what stays is made in one function";
      f.ends_run = true;
    }
    f.remedy = fmt::format(
        "Store losses as loss.item() or loss.detach(), clear lists and hooks that keep tensors; to find the "
        "lines whose allocations stay, {}.",
        steps[first]->memory.host()
            ? "compare two snapshots of tracemalloc, or see `never freed` of `stepscope show memory_events`"
            : "call torch.cuda.memory._record_memory_history(), then compare two "
              "torch.cuda.memory._snapshot()");
    f.verify = "memory_events: lowest is the same in all steps.";
    f.effort = Effort::code;
    return f;
  }
  return std::nullopt;
}

constexpr Rule kMemoryRules[] = {
    {RuleId::A01, "device memory is allocated inside the step", true, allocation, kAllocationDoc},
    {RuleId::A02, "device memory is nearly full", false, memory_limit, kLimitDoc},
    {RuleId::A04, "the allocator holds much more than is used", false, fragmentation, kFragmentedDoc},
    {RuleId::A05, "memory grows from step to step", false, growth, kGrowthDoc},
};

}  // namespace

std::span<const Rule> memory_rules() { return kMemoryRules; }

}  // namespace stepscope::advise
