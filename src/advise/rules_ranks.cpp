// Rules that compare ranks (N): silent where only one was opened.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "advise/collective_facts.h"
#include "advise/constants.h"
#include "advise/families.h"
#include "advise/say.h"

namespace stepscope::advise {
namespace {

using report::Ints;
using report::Table;
using report::Texts;

constexpr std::string_view kWaitingDoc =
    R"(Looks at `stragglers`: a rank that in every step takes longer for its own work than the median rank, so that the others wait for it in collectives. Fires on
the ranks that wait, where mending that rank would shorten the step by at least `kWaitingShare`; the slow rank's own findings say what it spends the time on.

Saving: what the job gains in a replay of the other ranks without this one: `kPacePessimism` of its low end, to its high end. Where that is refused, `kWaitingPessimism` to all of the time by which the longest own work of
any rank would be shorter with that rank at the median.

Silent on: one rank, ranks that differ by chance, a single slow step (listed by `stragglers`), and ranks that are slower than the median and hold nobody up because another one is
slower still.)";

std::string look_at(std::string_view part, std::int64_t rank) {
  const std::string own = fmt::format("Look at rank {}'s own findings", rank);
  if (part == "input")
    return own +
           ": its loader, its storage, workers that share cores with other jobs, more or longer samples than "
           "others get.";
  if (part == "compute")
    return own +
           ": clocks and power (nvidia-smi -q -d PERFORMANCE,CLOCK; rocm-smi --showperflevel -c), another "
           "job on the device, "
           "longer sequences or more tokens than others get (balance or pack them).";
  if (part == "copy")
    return own + ": pinned memory, the device's PCIe link (nvidia-smi -q -d PCI), NUMA placement.";
  if (part == "alloc") return own + ": calls that allocate or free device memory inside the step.";
  return own +
         ": processor clock and load (other jobs, NUMA placement, numactl or taskset), garbage collection, "
         "logging "
         "or evaluation on this rank alone.";
}

std::optional<Finding> waiting_for_rank(const Evidence& e, Bound) {
  const std::optional<SlowRank> slow = slow_rank(e);
  if (!slow || e.share(slow->cost * e.steps()) < kWaitingShare) return std::nullopt;
  Finding f =
      finding(e, "N05", "communication",
              fmt::format("Rank {} takes {} longer than the others in every step, for {}; they wait for it",
                          slow->rank, ns(slow->excess), slow->what));
  if (slow->replayed) {
    f.saving_low = static_cast<std::int64_t>(kPacePessimism * static_cast<double>(slow->low));
    f.saving_high = slow->high;
  } else {
    save(f, slow->cost, kWaitingPessimism, 1.0);
  }
  f.confidence = Confidence::high;
  f.because = fmt::format(
      "its own work is {:.0f} times as far from the other ranks' as they are from each other", slow->z);
  f.evidence = fmt::format("stragglers: rank {}, {}; this rank waits in {} of its time in collectives",
                           slow->rank, slow->part, percent(waiting_share(e).value_or(0)));
  f.remedy = look_at(slow->part, slow->rank);
  f.verify = "stragglers: no rank is listed, and ranks wait about equally long.";
  f.effort = Effort::code;
  return f;
}

constexpr std::string_view kBubbleDoc =
    R"(Looks at `pipeline`: a stage whose bubble, the time in which it neither computes nor copies nor reduces, is at least `kBubbleShare` of its step and differs by at most `kBubbleFit` from the
(p-1)/(v·m+p-1) that filling and draining p stages with m micro-batches takes (v chunks per stage).

Saving: the bubble now minus that with 2·m micro-batches of half the size, which is half of it, at most half of what filling and draining takes; at least `kHalvedLeast` of that, as smaller
kernels are less efficient.

Silent on: one rank, and a larger bubble, which has other causes: stages of unequal work, messages that nothing hides, a late host.)";

std::optional<Finding> pipeline_bubble(const Evidence& e, Bound) {
  const std::optional<PipelineStage> stage = pipeline_stage(e);
  if (!stage || stage->share < kBubbleShare ||
      std::abs(stage->share - stage->ideal) > kBubbleFit * stage->ideal)
    return std::nullopt;
  Finding f = finding(e, "N08", "communication",
                      fmt::format("Stage {} idles {} of the step: {} micro-batches for {} stages",
                                  stage->stage, percent(stage->share), stage->micro_batches, stage->stages));
  const auto filling = static_cast<std::int64_t>(stage->ideal * static_cast<double>(stage->length));
  save(f, std::min(stage->bubble, filling) / 2, kHalvedLeast, 1);
  f.confidence = Confidence::medium;
  f.because = fmt::format("filling and draining the stages takes {} with so few micro-batches",
                          percent(stage->ideal));
  f.evidence = fmt::format("pipeline: bubble {} per step, {} of it in sends and receives", ns(stage->bubble),
                           ns(stage->waiting));
  f.remedy =
      "Cut the batch into more micro-batches: twice as many halve the bubble, 8 per stage leave a tenth; "
      "an interleaved or zero-bubble schedule (torch.distributed.pipelining: ScheduleInterleaved1F1B, "
      "ScheduleZBVZeroBubble); balance the layers between the stages.";
  f.verify = "pipeline: bubble_share under 10 %.";
  f.effort = Effort::option;
  return f;
}

constexpr Rule kRules[] = {
    {"N05", "communication", "one rank holds the others up", true, waiting_for_rank, kWaitingDoc},
    {"N08", "communication", "a pipeline has few micro-batches", true, pipeline_bubble, kBubbleDoc},
};

}  // namespace

std::span<const Rule> rank_rules() { return kRules; }

}  // namespace stepscope::advise
