// Rules of memory snapshots (A06 to A10). Each says what fills or breaks the memory; none knows a cost in
// time.
#include <fmt/format.h>

#include <algorithm>
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
much, and with a growing number of allocations; without that, it must rise in nine of ten steps, of eight at
least. No saving: such a program runs out of memory. Silent for caches that fill during the warm-up.)";

bool leaks(const analyze::GrowingMemory& of, std::int64_t steps) {
  if (of.growth < kLeakBytes || of.recent < of.growth / 3 || of.p >= kLeakChance) return false;
  return of.growth_count >= 0.25 || (of.rising >= 0.9 && steps >= 8);
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
  std::string title = fmt::format("Memory of {} grows by {} per step: {} more after {} steps", first.place,
                                  size(first.growth), size(first.last - first.first), of.steps->steps);
  if (of.places.size() > 1)
    title += fmt::format("; with {} other places, {} per step", of.places.size() - 1, size(of.growth));
  Claim f = claim(e, RuleId::A06, std::move(title));
  f.confidence = first.growth_count >= 0.9 && of.steps->steps >= 8 ? Confidence::high : Confidence::medium;
  f.because =
      fmt::format("its allocations went from {} to {}; chance explains such a rise in {:.2g} of cases",
                  first.count_first, first.count_last, first.p);
  f.evidence = {see::leaks(fmt::format("growing memory by place, {}", of.steps->found_by)),
                see::memory_peak("who held memory at the end: --at end")};
  f.remedy =
      "Look at what keeps these tensors alive: a list of losses (store loss.item() or loss.detach()), a "
      "cache "
      "without a limit, a hook, a closure. A tensor with a graph keeps its whole forward pass.";
  f.verify = "leaks: no growing memory.";
  f.effort = Effort::code;
  return f;
}

/// The last allocation that failed; nullptr if none did.
const analyze::FailedAllocation* last_failure(const Evidence& e) {
  const auto failed = e.mine(e.reports().snapshot.failures.failed, "Failed allocations");
  return failed.empty() ? nullptr : failed.back();
}

/// Whether what leaked would have been enough for the request.
bool leak_explains(const Evidence& e, const analyze::FailedAllocation& failed) {
  const Leaking of = leaking(e);
  return !of.places.empty() && of.steps->device == failed.device && of.grown >= failed.request;
}

std::string why_refused(const analyze::FailedAllocation& of) {
  if (!of.limited()) return "";
  return fmt::format(
      " The device still had {}, more than the request: a limit of this process "
      "(set_per_process_memory_fraction), or another process.",
      size(of.device_free));
}

std::string request_of(const analyze::FailedAllocation& of) {
  return fmt::format("{} could not get {}", of.place, size(of.request));
}

constexpr std::string_view kFragmentationDoc =
    R"(Looks for an allocation that failed (`oom`) although free bytes were enough, but not in one piece, or in
another stream or a private pool. Without a failure, for memory at the peak that is free, but in segments with
blocks in use (`fragmentation`: split): more than `kFragmentedShare` of the reserved memory, and more than
`kFragmentedBytes`. Silent where a leak explains the failure.)";

std::optional<Claim> failed_by_fragmentation(const Evidence& e, const analyze::FailedAllocation& of) {
  std::string title, remedy;
  if (of.cause == FailureCause::fragmentation) {
    title = fmt::format("{} although {} were free in its pool: the largest piece was {}", request_of(of),
                        size(of.own_free), size(of.largest_free));
    remedy = fmt::format(
        "{}; without it, max_split_size_mb below the size of large tensors, and the largest "
        "batch first.",
        kExpandable);
  } else if (of.cause == FailureCause::other_stream) {
    title = fmt::format("{} although {} were free in other streams' memory", request_of(of),
                        size(of.stream_free));
    remedy =
        "Free blocks serve the stream that allocated them. Allocate on the stream that uses the tensor, "
        "or call torch.cuda.empty_cache() between phases that use different streams.";
  } else {
    title = fmt::format("{} although {} were free in private pools", request_of(of), size(of.pool_free));
    remedy =
        "CUDA graphs and MemPool keep memory for themselves. Capture graphs in one shared pool "
        "(torch.cuda.graph_pool_handle()), or capture fewer shapes.";
  }
  Claim f = claim(e, RuleId::A07, std::move(title));
  f.confidence = Confidence::high;
  f.because = fmt::format(
      "request {} <= {} free in segments{}", size(of.request),
      size(report::plus(of.own_free, report::plus(of.stream_free, of.pool_free))),
      of.cause == FailureCause::fragmentation
          ? fmt::format("; {} of them are whole pages, which expandable segments return", size(of.pages))
          : "");
  f.evidence = {see::oom(fmt::format("event {}, cause {}", of.event, name_of(of.cause))),
                see::fragmentation("by pool, just before the failure")};
  f.remedy = remedy + why_refused(of);
  f.verify = "oom: no failed allocation.";
  return f;
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
  if (split <= kFragmentedBytes || !(report::ratio(split, reserved) > kFragmentedShare)) return std::nullopt;
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
`kChurnSteps` of them. cudaMalloc and cudaFree are slow, and cudaFree waits for the device; a snapshot does not
show the time. Silent where steps are not known, and for a job whose allocation failed.)";

std::optional<Claim> churning(const Evidence& e, Bound) {
  if (last_failure(e) != nullptr) return std::nullopt;
  for (const analyze::Churn* of : e.mine(e.reports().snapshot.churn.devices, "Churn per step")) {
    if (of->found_by.empty() || of->steps < 3 || !(report::ratio(of->unsettled, of->steps) >= kChurnSteps))
      continue;
    const auto places = e.mine(e.reports().snapshot.churn.places, "Segments taken and returned, by place");
    const auto returns = std::ranges::max_element(places, {}, [&](const analyze::ChurningPlace* place) {
      return place->device == of->device ? place->returned : -1;
    });
    Claim f =
        claim(e, RuleId::A08,
              fmt::format("In {} of {} steps, memory goes back to the device and is taken again: {} per step",
                          of->unsettled, of->steps, size(of->taken)));
    f.confidence = Confidence::high;
    f.because = "a settled program takes no segments after its first steps";
    f.evidence = {
        see::churn(fmt::format("segments by place{}", returns != places.end() && (*returns)->returned > 0
                                                          ? ": most are returned in " + (*returns)->place
                                                          : ""))};
    f.remedy = of->retries > 0
                   ? fmt::format(
                         "The device is full: {} times cached memory was freed to go on. Use less "
                         "memory (smaller batch, checkpointing), or {}.",
                         of->retries, kExpandable)
                   : fmt::format("Remove torch.cuda.empty_cache() from the loop; else {}, and fixed shapes.",
                                 kExpandable);
    f.verify = "churn: segments_returned is 0.";
    return f;
  }
  return std::nullopt;
}

constexpr std::string_view kSpikeDoc =
    R"(Looks for a place that lifts the peak alone: without it the peak would be lower by more than
`kSpikeShare` (`memory_peak`: peak_without), while on average it holds less than `kSpikeMean` of what it holds
at the peak. Also an allocation that failed and asked for more than a fifth of all memory (`oom`:
one_request).)";

std::optional<Claim> spike(const Evidence& e, Bound) {
  if (const analyze::FailedAllocation* of = last_failure(e); of != nullptr) {
    if (of->cause != FailureCause::one_request || leak_explains(e, *of)) return std::nullopt;
    Claim f = claim(e, RuleId::A09,
                    fmt::format("{} at once: more than a fifth of the memory, of which {} were in use",
                                request_of(*of), size(of->used)));
    f.confidence = Confidence::high;
    f.because = fmt::format("{} missing with all free memory", size(of->missing));
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
  if (most == nullptr) return std::nullopt;
  Claim f = claim(e, RuleId::A09,
                  fmt::format("{} lifts the peak alone: {} with it, {} without", most->place, size(peak),
                              size(most->peak_without)));
  f.confidence = Confidence::high;
  f.because = fmt::format("it holds {} at the peak and {} on average", size(most->bytes), size(most->mean));
  f.evidence = {see::memory_peak("peak_without and mean, by place")};
  f.remedy =
      "Make this tensor in pieces (chunks of the batch, of the sequence or of the vocabulary), in "
      "place, in a smaller type, or free it before the next one.";
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
                  fmt::format("{}: tensors fill the memory, {} of {} reserved are in use", request_of(*of),
                              size(of->used), size(of->reserved)));
  f.confidence = Confidence::high;
  f.because = fmt::format("{} missing with all free memory", size(of->missing));
  f.evidence = {
      see::oom(fmt::format("event {}", of->event)),
      see::memory_peak(held == nullptr ? std::string("by place")
                                       : fmt::format("{} holds {}", held->place, size(held->bytes)))};
  f.remedy = std::string(report::plus(of->obtainable, of->pages) >= of->request
                             ? fmt::format("It would have fitted with {}. For more room: c", kExpandable)
                             : "C") +
             "heckpoint activations of the largest holders (torch.utils.checkpoint), a smaller micro-batch "
             "with accumulation, mixed precision, a sharded optimizer." +
             why_refused(*of);
  f.verify = "oom: no failed allocation.";
  f.effort = Effort::code;
  return f;
}

constexpr Rule kSnapshotRules[] = {
    {RuleId::A06, "memory of one place grows from step to step", false, leak, kLeakDoc},
    {RuleId::A07, "free memory is split too finely", false, fragmented, kFragmentationDoc},
    {RuleId::A08, "each step returns memory to the device and takes it again", false, churning, kChurnDoc},
    {RuleId::A09, "one place lifts the peak alone", false, spike, kSpikeDoc},
    {RuleId::A10, "an allocation failed: tensors fill the memory", false, shortage, kShortageDoc},
};

}  // namespace

std::span<const Rule> snapshot_rules() { return kSnapshotRules; }

}  // namespace stepscope::advise
