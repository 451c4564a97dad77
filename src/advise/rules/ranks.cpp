// Rules that compare ranks (N): silent if only one is open.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "advise/collective_facts.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/rules/on_cpu.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/judgement.h"

namespace stepscope::advise {
namespace {

using analyze::SlowKernels;
using analyze::SlowRank;
using derive::StepPart;

constexpr std::string_view kWaitingDoc =
    R"(Looks at `stragglers`: a rank whose own work takes longer than the median rank's in every step, so that
the others wait for it in collectives. Fires on the ranks that wait, if mending that rank would shorten the
step by at least `kWaitingShare`.

If several ranks are slow and together cost `kMoreTogether` times as much as the slowest alone, the finding names all.

If a rank computes longer, its kernels are compared with those of a usual rank by name, grid and block. If
both run the same ones as often (`kSameWork`) and all are longer by the same factor (`kSlowDevice`,
`kEvenPace`), the device is slow. If only some are longer, its data may be different. Else the rank has more
or other work. If another part of the step is longer, the slow rank's own findings show what takes the time.

Saving: what the job gains in a replay of the other ranks without this one: from `kPacePessimism` of its low
end to its high end, at most the rank's excess. If the ranks cannot be replayed together: `kWaitingPessimism`
to all of the time by which the longest own work of any rank would be shorter with that rank at the median.

Without a device: the rank that waits least in collectives, if that is at most `kLateWaits` of what each other rank
waits, and the difference is `kWaitingOnCpuShare` of the window; saving `kWaitingPessimism` of 1 - 1/ranks to all of the difference, or to 1 - 1/ranks of it where the
forward pass is longer: work that is dealt out evenly is not gone. Names the
phase (data, forward, optimizer) in which that rank exceeds this one by `kExplainedWait` of it.

Silent on: one rank; ranks that differ by chance; a single slow step (listed by `stragglers`); ranks that are
slower than the median but hold nobody up, because another one is slower still.)";

std::string look_at(StepPart part, std::int64_t rank) {
  const std::string own = fmt::format("Look at rank {}'s own findings", rank);
  if (part == StepPart::input)
    return own +
           ": its loader, its storage, workers that share cores with other jobs, more or longer samples than "
           "on other ranks.";
  if (part == StepPart::copy)
    return own + ": pinned memory, the width of the device's PCIe link, NUMA placement.";
  if (part == StepPart::alloc) return own + ": calls that allocate or free device memory inside the step.";
  return own +
         ": processor clock and load (other jobs, NUMA placement, numactl or taskset), garbage collection, "
         "logging "
         "or evaluation on this rank alone.";
}

/// Why a rank computes longer than the others, and what to do about it.
struct Cause {
  std::string what, remedy;
};

Cause cause_of(const SlowRank& slow, const SlowKernels& kernels) {
  const std::string device = fmt::format(
      "on rank {}'s host: <<nvidia-smi -q -d PERFORMANCE,CLOCK||rocm-smi --showperflevel -c||the device's "
      "clock "
      "and power limit>>, and other "
      "processes "
      "on that device",
      slow.rank);
  const std::string share =
      "longer sequences or more tokens than on other ranks: balance or pack them; or layers and experts that "
      "only it holds";
  if (kernels.same < kSameWork) {
    const bool more = std::round(kernels.calls) != std::round(kernels.others_calls);
    return {more ? fmt::format("{:.0f} compute kernels per step, {:.0f} on rank {}", kernels.calls,
                               kernels.others_calls, kernels.against)
                 : fmt::format("compute kernels with other names or grids than on rank {}", kernels.against),
            fmt::format("Rank {} has more or other work: {}.", slow.rank, share)};
  }
  if (kernels.pace >= kSlowDevice && kernels.even >= kEvenPace)
    return {fmt::format("the same compute kernels, each about {:.2f} times as long", kernels.pace),
            fmt::format("The work is the same: look for a lower clock, a power or heat limit, or another job "
                        "on the device. Check {}.",
                        device)};
  return {"the same compute kernels, some of them longer",
          fmt::format("Compare ranks {} and {} kernel by kernel (`kernels`): the longer ones work on "
                      "different data ({}), or something else runs beside them. Check {}.",
                      slow.rank, kernels.against, share, device)};
}

/// "rank 1: compute kernels; rank 4: loading data", of the ranks that are slow in every step.
std::string slow_parts(const Evidence& e) {
  std::string text;
  for (const SlowRank& slow : e.reports().job->stragglers.slow)
    if (slow.always())
      text += fmt::format("{}rank {}: {}", text.empty() ? "" : "; ", slow.rank, work_of(slow.part));
  return text;
}

Claim waiting_for_ranks(const Evidence& e, const analyze::SlowTogether& slow) {
  std::int64_t least = report::kNoInt, most = 0;
  for (const SlowRank& of : e.reports().job->stragglers.slow) {
    if (!of.always()) continue;
    least = least == report::kNoInt ? of.excess : std::min(least, of.excess);
    most = std::max(most, of.excess);
  }
  Claim f =
      claim(e, RuleId::N05,
            fmt::format("Ranks {} take {} or more longer than the others in every step, which wait for them",
                        report::listed_ranks(slow.ranks), ns(least)));
  if (slow.cost_high != report::kNoInt) {
    f.saving_low = static_cast<std::int64_t>(kPacePessimism * static_cast<double>(slow.cost_low));
    f.saving_high = std::min(slow.cost_high, std::max(most, slow.cost));
  } else {
    save(f, slow.cost, kWaitingPessimism, 1.0);
  }
  f.confidence = Confidence::medium;
  f.because = slow_parts(e);
  f.evidence = {
      see::stragglers(fmt::format("ranks {}; this rank waits for {} of its time in collectives",
                                  report::listed_ranks(slow.ranks), percent(waiting_share(e).value_or(0))))};
  f.remedy =
      "Mend all of them: with one alone mended, the others are still waited for. Look at the findings of "
      "each.";
  f.verify = "stragglers: no rank is listed, and ranks wait about equally long.";
  f.effort = Effort::code;
  return f;
}

std::optional<Claim> waiting_for_rank(const Evidence& e, Bound bound) {
  if (bound == Bound::host_only) return waiting_for_rank_on_cpu(e);
  if (const analyze::SlowTogether* several = slow_together(e)) {
    if (std::ranges::find(several->ranks, e.rank()) != several->ranks.end()) return std::nullopt;
    return waiting_for_ranks(e, *several);
  }
  const SlowRank* slow = slow_rank(e);
  if (slow == nullptr || e.share(slow->cost * e.steps()) < kWaitingShare) return std::nullopt;
  const SlowKernels* kernels = slow_kernels(e, *slow);
  const Cause cause = kernels != nullptr
                          ? cause_of(*slow, *kernels)
                          : Cause{std::string(work_of(slow->part)), look_at(slow->part, slow->rank)};
  Claim f =
      claim(e, RuleId::N05,
            fmt::format("Rank {} takes {} longer than the others in every step, and they wait for it: {}",
                        slow->rank, ns(slow->excess), cause.what));
  if (slow->by == analyze::CostBy::replay) {
    f.saving_low = static_cast<std::int64_t>(kPacePessimism * static_cast<double>(slow->cost_low));
    f.saving_high = std::min(slow->cost_high, std::max(slow->excess, slow->cost));
  } else {
    save(f, slow->cost, kWaitingPessimism, 1.0);
  }
  f.confidence = Confidence::high;
  f.because = fmt::format("{} of {} per step against {} on the other ranks, which differ by at most {}",
                          ns(slow->of_part.own), name_of(slow->part), ns(slow->of_part.others),
                          ns(slow->of_part.apart));
  f.evidence = {
      see::stragglers(fmt::format("rank {}, {}; this rank waits for {} of its time in collectives",
                                  slow->rank, name_of(slow->part), percent(waiting_share(e).value_or(0))))};
  f.remedy = cause.remedy;
  f.verify = "stragglers: no rank is listed, and ranks wait about equally long.";
  f.effort = Effort::code;
  return f;
}

constexpr std::string_view kBubbleDoc =
    R"(Looks at `pipeline`: a stage whose bubble, the time in which it neither computes nor copies nor reduces, is at
least `kBubbleShare` of its step. It differs from (p-1)/(v·m+p-1), the share that filling and draining p
stages with m micro-batches takes (v chunks per stage), by at most `kBubbleFit` of it.

Saving: half of the bubble or, if less, of filling and draining, as twice as many micro-batches of half the
size halve it; the low end is `kHalvedLeast` of that, as smaller kernels are less efficient. The remedy also
names what `kMicroBatches` per stage save at most.

Silent on: one rank; stages of unequal work (N13); a larger bubble, which has other causes: messages that
nothing hides, a late host.)";

constexpr std::string_view kUnevenDoc =
    R"(Looks at `pipeline`: *Balance of the stages*. Fires if one stage computes `kUnevenStages` more than the stages on
average.

Saving: `cost`. The low end is `kMovedLeast` of that, and nothing if the heaviest stage computes less than
`kWholeLayers` more than the mean, or if a stage is not among the files.

Silent on: one rank, stages that differ by less.)";

/// "45.1–46.0 %".
std::string range_of(double least, double most) {
  const std::string low = percent(least), high = percent(most);
  return low == high ? high : fmt::format("{}–{}", low.substr(0, low.find(' ')), high);
}

std::optional<Claim> pipeline_bubble(const Evidence& e, Bound) {
  const analyze::PipelineStage* stage = pipeline_stage(e);
  if (stage == nullptr || stage->bubble_share < kBubbleShare || uneven_stages(e) ||
      std::abs(stage->bubble_share - stage->ideal_share) > kBubbleFit * stage->ideal_share)
    return std::nullopt;
  const auto [least, most] = bubble_shares(e, stage->pipeline);
  const std::int64_t now = stage->micro_batches, twice = 2 * now, many = kMicroBatches * stage->stages;
  Claim f = claim(e, RuleId::N08,
                  fmt::format("The {} stages wait {} of the step for each other; {} micro-batches instead of "
                              "{} would halve it",
                              stage->stages, range_of(least, most), twice, now));
  const auto filling =
      std::min(static_cast<double>(stage->bubble), stage->ideal_share * static_cast<double>(stage->length));
  save(f, static_cast<std::int64_t>(filling / 2), kHalvedLeast, 1);
  f.confidence = Confidence::medium;
  f.because = fmt::format("filling and draining takes ({0}-1)/({1}{2}+{0}-1) = {3} of the step",
                          stage->stages, stage->chunks > 1 ? fmt::format("{}×", stage->chunks) : "", now,
                          percent(stage->ideal_share));
  f.evidence = {see::pipeline(fmt::format("bubble {} per step, {} of it in sends and receives",
                                          ns(stage->bubble), ns(stage->waiting)))};
  f.remedy = fmt::format("Split the batch into {} micro-batches, which gives the saving above", twice);
  if (many > twice)
    f.remedy +=
        fmt::format("; {}, {} per stage, save up to {}", many, kMicroBatches,
                    report::format_rough(filling * (1 - static_cast<double>(now) / static_cast<double>(many)),
                                         report::Unit::ns));
  f.remedy +=
      ". Or an interleaved or zero-bubble schedule (torch.distributed.pipelining: ScheduleInterleaved1F1B, "
      "ScheduleZBVZeroBubble); balance the layers between the stages.";
  f.verify = "pipeline: bubble_share under 10 %.";
  f.effort = Effort::option;
  return f;
}

std::optional<Claim> heavy_stage(const Evidence& e, Bound) {
  const analyze::StageBalance* uneven = uneven_stages(e);
  if (uneven == nullptr) return std::nullopt;
  Claim f =
      claim(e, RuleId::N13,
            fmt::format(
                "Stage {} of the pipeline, on rank {}, computes {} in each step, {} more than the {} stages "
                "on average: the others wait for it",
                uneven->stage, uneven->rank, ns(uneven->compute), percent(uneven->beyond), uneven->stages));
  const bool whole = uneven->known == uneven->stages;
  save(f, uneven->cost, whole && uneven->beyond >= kWholeLayers ? kMovedLeast : 0, 1);
  f.shortens_kernels = true;
  f.confidence = whole ? Confidence::medium : Confidence::low;
  f.because = whole ? "the compute of every stage is recorded; layers can be moved only whole"
                    : "not every stage is among the files";
  f.evidence = {see::pipeline(
      fmt::format("compute of stage {}; mean of the stages {}", uneven->stage, ns(uneven->mean)))};
  f.remedy = fmt::format(
      "Move layers from stage {} to the others: count the embedding and the output layer with its loss, "
      "which "
      "belong to the first and the last stage, as the layers that they cost (Megatron-LM: "
      "--decoder-first-pipeline-num-layers and --decoder-last-pipeline-num-layers; "
      "torch.distributed.pipelining: "
      "other split points).",
      uneven->stage);
  f.verify = "pipeline: compute of all stages within 10 %.";
  f.effort = Effort::code;
  return f;
}

constexpr Rule kRankRules[] = {
    {RuleId::N13, "one stage of a pipeline computes more than the others", true, heavy_stage, kUnevenDoc},
    {RuleId::N05, "one rank holds the others up", true, waiting_for_rank, kWaitingDoc},
    {RuleId::N08, "a pipeline has too few micro-batches", true, pipeline_bubble, kBubbleDoc},
};

}  // namespace

std::span<const Rule> rank_rules() { return kRankRules; }

}  // namespace stepscope::advise
