// Rules of memory snapshots (A06 to A10). Each says what fills or breaks the memory; none knows a cost in
// time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "advise/memory_facts.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using analyze::FailureCause;

constexpr std::string_view kLeakDoc =
    R"(Looks for places whose memory grows from step to step (`leaks`): at least `kLeakBytes` per step, still at
least a third as fast in the later half, with a chance below `kLeakChance` that values without a trend rise as
much, and with `kLeakMore` more allocations in the last step than in the first; without that, it must rise in
nine of ten steps, of eight at least. No saving: such a program runs out of memory. Silent for caches that fill during the warm-up.)";

bool leaks(const analyze::GrowingMemory& of, std::int64_t steps) {
  if (of.growth < kLeakBytes || of.recent < of.growth / 3 || of.p >= kLeakChance) return false;
  return of.count_last - of.count_first >= kLeakMore || (of.rising >= 0.9 && steps >= 8);
}

/// The places that leak on the device that leaks most.
struct Leaking {
  const analyze::ComparedSteps* steps = nullptr;
  std::vector<const analyze::GrowingMemory*> places;  ///< largest growth first
  std::int64_t growth = 0;                            ///< per step
  std::int64_t grown = 0;                             ///< from the first compared step to the last
};

Leaking leaking(const Evidence& e) {
  Leaking most;
  const auto growing = e.mine(e.reports().snapshot.leaks.growing, "Growing memory, by place");
  for (const analyze::ComparedSteps* steps : e.mine(e.reports().snapshot.leaks.compared, "Steps compared")) {
    Leaking of{steps, {}, 0, 0};
    for (const analyze::GrowingMemory* place : growing) {
      if (place->device != steps->device || !leaks(*place, steps->steps)) continue;
      of.places.push_back(place);
      report::add_to(of.growth, place->growth);
      report::add_to(of.grown, place->last - place->first);
    }
    if (of.growth > most.growth) most = std::move(of);
  }
  return most;
}

std::optional<Claim> leak(const Evidence& e, Bound) {
  const Leaking of = leaking(e);
  if (of.places.empty()) return std::nullopt;
  const analyze::GrowingMemory& first = *of.places.front();
  // A step is compared where it holds least: before its own allocation, or after it.
  const double grown = report::ratio(first.last - first.first, first.growth);
  const auto last = static_cast<double>(of.steps->steps);
  const std::int64_t steps =
      of.steps->steps - (std::abs(grown - last) < std::abs(grown - (last - 1)) ? 0 : 1);
  std::string title =
      fmt::format("Memory of {}{} grows by {} per step: {} more after {} steps", first.place,
                  on_device(e, first.device), size(first.growth), size(first.last - first.first), steps);
  if (of.places.size() > 1)
    title += fmt::format("; with {} more, {} per step", of.places.size() - 1, size(of.growth));
  Claim f = claim(e, RuleId::A06, std::move(title));
  f.confidence = first.growth_count >= 0.9 && of.steps->steps >= 8 ? Confidence::high : Confidence::medium;
  f.because =
      fmt::format("its allocations went from {} to {}; chance explains such a rise in {:.2g} of cases",
                  first.count_first, first.count_last, first.p);
  f.evidence = {see::leaks(fmt::format("growing memory by place, {}", of.steps->found_by)),
                see::memory_peak(last_failure(e) != nullptr ? "who held memory when it failed: --at oom"
                                                            : "who held memory at the end: --at end")};
  f.remedy =
      "Look at what keeps these tensors alive: a list of losses (store loss.item() or loss.detach()), a "
      "cache "
      "without a limit, a hook, a closure. A tensor with a graph keeps its whole forward pass.";
  f.verify = "leaks: no growing memory.";
  f.effort = Effort::code;
  return f;
}

/// Whether what leaked would have been enough for the request.
bool leak_explains(const Evidence& e, const analyze::FailedAllocation& failed) {
  const Leaking of = leaking(e);
  return !of.places.empty() && of.steps->device == failed.device && of.grown >= failed.request;
}

std::string why_refused(const analyze::FailedAllocation& of) {
  if (!of.limited()) return who_else(of);
  return fmt::format(
      " The device still had {}, more than the request: a limit of this process "
      "(set_per_process_memory_fraction), or another process.",
      size(of.device_free));
}

/// Whether memory that others hold may be the cause.
Confidence sure(const analyze::FailedAllocation& of) {
  return who_else(of).empty() ? Confidence::high : Confidence::medium;
}

std::string request_of(const Evidence& e, const analyze::FailedAllocation& of) {
  const auto failed = e.mine(e.reports().snapshot.failures.failed, "Failed allocations").size();
  return (failed > 1 ? fmt::format("{} allocations failed, the last: ", failed) : "") +
         fmt::format("{} could not get {}{}", of.place, size(of.request), on_device(e, of.device));
}

/// The place that keeps most free memory from being returned; nullptr if none does.
const analyze::PinningPlace* pinning(const Evidence& e, std::int64_t device) {
  for (const analyze::PinningPlace* of :
       e.mine(e.reports().snapshot.fragmentation.pinning, "Who holds partly free segments"))
    if (of->device == device) return of;
  return nullptr;
}

constexpr std::string_view kFragmentationDoc =
    R"(Looks for an allocation that failed (`oom`) although free bytes were enough, but not in one piece, or in
another stream or a private pool. Without a failure, for memory at the peak that is free, but in segments with
blocks in use (`fragmentation`: split): more than `kFragmentedShare` of the reserved memory, and more than
`kFragmentedBytes`; or for a peak of reserved memory above `kCachedShare` times that of requested memory, and
`kFragmentedBytes` above it. Silent where a leak explains the failure.)";

std::optional<Claim> failed_by_fragmentation(const Evidence& e, const analyze::FailedAllocation& of) {
  std::string title, remedy;
  if (of.cause == FailureCause::fragmentation) {
    title = fmt::format("{} although {} were free in its pool: the largest piece was {}", request_of(e, of),
                        size(of.own_free), size(of.largest_free));
    remedy = has_expandable(e, of.device)
                 ? "Expandable segments are on: each still serves one stream, and blocks in use keep their "
                   "pages. Free what is held "
                   "between large tensors, and run the largest batch first."
                 : fmt::format(
                       "{}; without it, max_split_size_mb below the size of large tensors, and the largest "
                       "batch first.",
                       kExpandable);
  } else if (of.cause == FailureCause::other_stream) {
    title = fmt::format("{} although {} were free in other streams' memory", request_of(e, of),
                        size(of.stream_free));
    remedy =
        "Free blocks serve only the stream that allocated them, and blocks in use keep their segments. "
        "Allocate on the stream that uses the tensor, and keep fewer tensors of side streams alive.";
  } else {
    title = fmt::format("{} although {} were free in private pools", request_of(e, of), size(of.pool_free));
    remedy =
        "CUDA graphs and MemPool keep memory for themselves. Capture graphs in one shared pool "
        "(torch.cuda.graph_pool_handle()), or capture fewer shapes.";
  }
  Claim f = claim(e, RuleId::A07, std::move(title));
  f.confidence = sure(of);
  f.because = fmt::format("{} asked for; {} from the device and {} of whole free pages would have been there",
                          size(of.request), size(of.obtainable), size(of.pages));
  f.evidence = {see::oom(fmt::format("event {}, cause {}", of.event, name_of(of.cause))),
                see::fragmentation("by pool, just before the failure")};
  if (const analyze::PinningPlace* held = pinning(e, of.device); held != nullptr)
    f.evidence.push_back(see::fragmentation(fmt::format("{} holds blocks in {} segments with {} free",
                                                        held->place, held->segments, size(held->split))));
  f.remedy = remedy + why_refused(of);
  f.verify = "oom: no failed allocation.";
  return f;
}

/// More than twice what tensors ever asked for is reserved, though not split at the peak.
std::optional<Claim> cached(const Evidence& e) {
  for (const analyze::DeviceMemory* of :
       e.mine(e.reports().snapshot.summary.devices, "Memory of each device")) {
    if (of->events == 0 || of->peak_reserved - of->peak_requested <= kFragmentedBytes ||
        !(report::ratio(of->peak_reserved, of->peak_requested) > kCachedShare))
      continue;
    Claim f = claim(e, RuleId::A07,
                    fmt::format("The allocator holds up to {}, tensors asked for at most {}",
                                size(of->peak_reserved), size(of->peak_requested)));
    f.confidence = Confidence::medium;
    f.because = "no allocation failed; sizes that change leave segments that later ones do not fit";
    f.evidence = {see::memory_summary("peak_reserved, peak_requested"), see::memory_curve("both, over time")};
    f.remedy =
        fmt::format("{}; allocate at the largest size at once instead of growing by torch.cat.", kExpandable);
    f.verify = "memory_summary: peak_reserved near peak_requested.";
    return f;
  }
  return std::nullopt;
}

std::optional<Claim> fragmented(const Evidence& e, Bound) {
  if (const analyze::FailedAllocation* of = last_failure(e); of != nullptr) {
    if (of->cause > FailureCause::private_pool || leak_explains(e, *of)) return std::nullopt;
    return failed_by_fragmentation(e, *of);
  }
  std::int64_t split = 0, reserved = 0, largest = 0;
  for (const analyze::PoolMemory* pool :
       e.mine(e.reports().snapshot.fragmentation.pools, "Use of reserved memory")) {
    report::add_to(split, pool->split);
    report::add_to(reserved, pool->reserved);
    largest = std::max(largest, pool->largest_free);
  }
  if (split <= kFragmentedBytes || !(report::ratio(split, reserved) > kFragmentedShare)) return cached(e);
  Claim f = claim(e, RuleId::A07,
                  fmt::format("At the peak {} of {} reserved are free, but split: the largest piece is {}",
                              size(split), size(reserved), size(largest)));
  f.confidence = Confidence::medium;
  f.because = "no allocation failed; the next larger tensor may";
  f.evidence = {see::fragmentation("by pool, at the peak")};
  f.remedy = fmt::format("{}, or max_split_size_mb; run the largest batch first.", kExpandable);
  f.verify = "fragmentation: a smaller split share.";
  return f;
}

constexpr std::string_view kChurnDoc =
    R"(Looks for steps after the warm-up that take segments from the device and return some (`churn`): at least
`kChurnSteps` of them; or, in these steps, `kManyRetries` flushes of cached memory because the device was full.
cudaMalloc and cudaFree are slow, and cudaFree waits for the device; a snapshot does not
show the time. Silent where steps are not known, and for a job whose allocation failed.)";

/// A sentence about memory that waited for other streams; "" if little did.
std::string waits_for_streams(const Evidence& e, const analyze::Churn& of) {
  for (const analyze::DeviceMemory* device :
       e.mine(e.reports().snapshot.summary.devices, "Memory of each device"))
    if (device->device == of.device && report::ratio(of.peak_pending, device->peak_requested) > kPendingShare)
      return fmt::format(
          " Up to {} waited for other streams after they were freed (record_stream): keep fewer such tensors "
          "in "
          "flight (FSDP: limit_all_gathers=True).",
          size(of.peak_pending));
  return "";
}

std::optional<Claim> churning(const Evidence& e, Bound) {
  if (last_failure(e) != nullptr) return std::nullopt;
  for (const analyze::Churn* of : e.mine(e.reports().snapshot.churn.devices, "Churn per step")) {
    const bool often = report::ratio(of->unsettled, of->steps) >= kChurnSteps;
    if (of->steps < 3 || (!often && of->retries < kManyRetries)) continue;
    const auto places = e.mine(e.reports().snapshot.churn.places, "Segments taken and returned, by place");
    const auto returns = std::ranges::max_element(places, {}, [&](const analyze::ChurningPlace* place) {
      return place->device == of->device ? place->returned : -1;
    });
    const bool named = returns != places.end() && (*returns)->returned > 0;
    Claim f = claim(
        e, RuleId::A08,
        often ? fmt::format(
                    "In {} of {} steps, memory goes back to the device and is taken again, {} per step{}",
                    of->unsettled, of->steps, size(of->taken),
                    named && (*returns)->place != analyze::kNoStackRecorded
                        ? ": mostly returned by " + (*returns)->place
                        : "")
              : fmt::format("{} times in {} steps the device was full, and cached memory was freed to go on",
                            of->retries, of->steps));
    f.confidence = Confidence::high;
    f.because = "a settled program takes no segments after its first steps";
    f.evidence = {see::churn("segments by place, and in each step")};
    f.remedy = of->retries > 0
                   ? fmt::format(
                         "The device is full: {} times cached memory was freed to go on. Use less "
                         "memory (smaller batch, checkpointing), or {}.",
                         of->retries, kExpandable)
                   : fmt::format("Remove torch.cuda.empty_cache() from the loop; else {}, and fixed shapes.",
                                 kExpandable);
    f.remedy += waits_for_streams(e, *of);
    f.verify = "churn: segments_returned is 0.";
    return f;
  }
  return std::nullopt;
}

constexpr std::string_view kSpikeDoc =
    R"(Looks for a place that lifts the peak alone: without it the peak would be lower by more than
`kSpikeShare` (`memory_peak`: peak_without), while on average it holds less than `kSpikeMean` of what it holds
at the peak. Also one step of at least five whose peak is above `kLongStep` times what `kUsualSteps` of the
steps need (`churn`). Also an allocation that failed and asked for more than a fifth of all memory (`oom`:
one_request).)";

std::string missing(const analyze::FailedAllocation& of) {
  return of.missing == 0 ? "with all whole free pages returned to the device it would have fitted"
                         : fmt::format("at least {} more were needed", size(of.missing));
}

/// One step after the warm-up that needs far more than usual ones.
std::optional<Claim> long_step(const Evidence& e) {
  const auto steps = e.mine(e.reports().snapshot.churn.steps, "Each step");
  for (const analyze::Churn* device : e.mine(e.reports().snapshot.churn.devices, "Churn per step")) {
    std::vector<std::int64_t> peaks;
    const analyze::MemoryStep* highest = nullptr;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      if ((*step)->device != device->device || std::ssize(peaks) == device->steps) continue;
      peaks.push_back((*step)->peak);
      if (highest == nullptr || (*step)->peak > highest->peak) highest = *step;
    }
    if (peaks.size() < 5) continue;
    const std::int64_t usual = report::quantile(peaks, kUsualSteps);
    if (!(report::ratio(highest->peak, usual) > kLongStep)) continue;
    const analyze::HeldMemory* held = largest_holder(e, device->device);
    Claim f = claim(e, RuleId::A09,
                    fmt::format("Step {}, counted from 0, needs {}, {:.0f} % of the steps at most {}",
                                highest->number, size(highest->peak), 100 * kUsualSteps, size(usual)));
    f.confidence = Confidence::high;
    f.because = "memory has to be there for the largest step";
    f.evidence = {see::churn(fmt::format("each step: event {}", highest->event)),
                  see::memory_peak(held == nullptr ? std::string("by place")
                                                   : fmt::format("{} holds most then, {}", held->place,
                                                                 size(held->bytes)))};
    f.remedy =
        "If its batch is longer: limit tokens per batch, or sort by length. If it evaluates: "
        "torch.no_grad(), and free the training step's tensors first.";
    f.verify = "churn: peaks of steps that are alike.";
    f.effort = Effort::code;
    return f;
  }
  return std::nullopt;
}

std::optional<Claim> spike(const Evidence& e, Bound) {
  if (const analyze::FailedAllocation* of = last_failure(e); of != nullptr) {
    if (of->cause != FailureCause::one_request || leak_explains(e, *of)) return std::nullopt;
    Claim f =
        claim(e, RuleId::A09,
              fmt::format("{} at once: more than a fifth of the {} within reach, of which {} were in use",
                          request_of(e, *of), size(of->reserved + of->device_free), size(of->used)));
    f.confidence = sure(*of);
    f.because = missing(*of);
    f.evidence = {see::oom(fmt::format("event {}", of->event))};
    f.remedy =
        "Make this tensor in pieces (chunks of the batch, of the sequence or of the vocabulary), in "
        "place, or in a smaller type." +
        why_refused(*of);
    f.verify = "oom: no failed allocation.";
    f.effort = Effort::code;
    return f;
  }
  const analyze::HeldMemory* most = nullptr;
  std::int64_t peak = 0;
  for (const analyze::MemoryInstant* instant : e.mine(e.reports().snapshot.at_peak.instants, "Instant"))
    for (const analyze::HeldMemory* held : e.mine(e.reports().snapshot.at_peak.held, "Held then, by place")) {
      if (held->device != instant->device || held->peak_without == report::kNoInt) continue;
      const std::int64_t lifted = instant->requested - held->peak_without;
      if (!(report::ratio(lifted, instant->requested) > kSpikeShare) ||
          static_cast<double>(held->mean) > kSpikeMean * static_cast<double>(held->bytes))
        continue;
      if (most != nullptr && most->bytes >= held->bytes) continue;
      most = held;
      peak = instant->requested;
    }
  if (std::optional<Claim> f = long_step(e)) return f;
  if (most == nullptr) return std::nullopt;
  Claim f = claim(e, RuleId::A09,
                  fmt::format("{} lifts the peak alone: {} with it, {} without", most->place, size(peak),
                              size(most->peak_without)));
  f.confidence = Confidence::high;
  f.because = fmt::format("it holds {} at the peak and {} on average", size(most->bytes), size(most->mean));
  f.evidence = {see::memory_peak("peak_without and mean, by place")};
  f.remedy =
      "Make its tensors in pieces (chunks of the batch, of the sequence or of the vocabulary), in "
      "place, in a smaller type, or free each before the next one.";
  f.verify = "memory_peak: a lower peak_requested.";
  f.effort = Effort::code;
  return f;
}

constexpr std::string_view kShortageDoc =
    R"(Looks for an allocation that failed (`oom`) because tensors fill the memory: no split, no other pool and
no single request explains it. Silent where a leak explains the failure.)";

std::optional<Claim> shortage(const Evidence& e, Bound) {
  const analyze::FailedAllocation* of = last_failure(e);
  if (of == nullptr || of->cause != FailureCause::shortage || leak_explains(e, *of)) return std::nullopt;
  const analyze::HeldMemory* held = largest_holder(e, of->device);
  Claim f = claim(e, RuleId::A10,
                  fmt::format("{}: tensors fill the memory, {} of {} reserved are in use", request_of(e, *of),
                              size(of->used), size(of->reserved)));
  f.confidence = sure(*of);
  f.because = missing(*of);
  f.evidence = {
      see::oom(fmt::format("event {}", of->event)),
      see::memory_peak(held == nullptr ? std::string("by place")
                                       : fmt::format("{} holds {}", held->place, size(held->bytes)))};
  f.remedy = std::string(report::plus(of->obtainable, of->pages) >= of->request
                             ? fmt::format("It would have fitted with {}. For more room: c", kExpandable)
                             : "C") +
             (held != nullptr && held->optimizer * 2 > held->bytes
                  ? "hange the optimizer, whose state is the largest holder: 8-bit, fused into the backward "
                    "pass, or sharded (FSDP, ZeRO); or train fewer parameters (LoRA)."
                  : "heckpoint activations of the largest holders (torch.utils.checkpoint), a smaller "
                    "micro-batch with accumulation, mixed precision, a sharded optimizer.") +
             why_refused(*of);
  f.verify = "oom: no failed allocation.";
  f.effort = Effort::code;
  return f;
}

constexpr Rule kSnapshotRules[] = {
    {RuleId::A06, "memory of one place grows from step to step", false, leak, kLeakDoc},
    {RuleId::A07, "free memory is split too finely", false, fragmented, kFragmentationDoc},
    {RuleId::A08, "each step returns memory to the device and takes it again", false, churning, kChurnDoc},
    {RuleId::A09, "one place, one step or one request lifts the peak", false, spike, kSpikeDoc},
    {RuleId::A10, "an allocation failed: tensors fill the memory", false, shortage, kShortageDoc},
};

}  // namespace

std::span<const Rule> snapshot_rules() { return kSnapshotRules; }

}  // namespace stepscope::advise
