// Rules of operators' work (K01, P03) and of communication (N02, N06) for recordings without a device.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "advise/collective_facts.h"
#include "advise/own_places.h"
#include "advise/rules/constants.h"
#include "advise/rules/on_cpu.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Table;
using report::Unit;

/// Sums over the rank's rows of operator work.
struct OperatorWork {
  std::int64_t time = 0, calls = 0, chained = 0;  ///< ns in the window, except `calls`
};
template <class Wanted>
OperatorWork operator_work(const Evidence& e, Wanted wanted) {
  OperatorWork sum;
  if (!computes_on_cpu(e)) return sum;
  for (const analyze::HostWork* work : e.mine(e.reports().host_time.work, "Work of operators")) {
    if (!wanted(*work)) continue;
    report::add_to(sum.time, work->time);
    report::add_to(sum.calls, work->calls);
    report::add_to(sum.chained, work->chained);
  }
  return sum;
}

}  // namespace

std::optional<Claim> pointwise_on_cpu(const Evidence& e) {
  const OperatorWork work =
      operator_work(e, [](const analyze::HostWork& w) { return w.kind == analyze::OpKind::element_wise; });
  if (e.share(work.time) < kPointwiseShare || work.time < kLayerWork * work.calls) return std::nullopt;
  const auto place = dearest_place(e, &analyze::LineNode::element_wise);
  const std::string where = place ? fmt::format("; {} of it by {}{}{}", ns(place->cost / e.steps()),
                                                place->quoted(), place->called_by(), place->rest(e.steps()))
                                  : "";
  // The whole holds only calls whose amount of work is known; a line's part holds all.
  const std::int64_t time = place ? std::max(work.time, place->cost) : work.time;
  Claim f = claim(e, RuleId::K01,
                  fmt::format("{} goes into element-wise operators that each read and write memory{}",
                              of_step(e, time), where));
  const bool of_one_line =
      place && static_cast<double>(place->cost) >= kMostOfCost * static_cast<double>(time);
  save(f, time / e.steps(), kFusedLeast,
       of_one_line ? kSlowedToo : std::max(kFusedMost, report::ratio(work.chained, work.time)));
  f.confidence = Confidence::medium;
  f.because =
      of_one_line
          ? "how many of them fuse depends on the operators between them; the line may do without them"
          : "how many of them fuse depends on the operators between them";
  f.evidence = {see::host_time(fmt::format(
      "work of operators; {} calls in the window, {} of their time in runs over equally many elements",
      format_value(work.calls, Unit::count), percent(report::ratio(work.chained, work.time))))};
  f.remedy =
      "torch.compile(model) on the blocks turns each run into one loop; fused norms and gates (F.rms_norm, "
      "F.layer_norm).";
  f.verify = "The element-wise operators are gone from `stepscope show operators`.";
  f.effort = Effort::one_line;
  return f;
}

std::optional<Claim> double_precision_on_cpu(const Evidence& e) {
  const OperatorWork work =
      operator_work(e, [](const analyze::HostWork& w) { return w.dtype == derive::DType::float64; });
  if (work.calls == 0 || e.share(work.time) < kDoubleShare) return std::nullopt;
  Claim f = claim(e, RuleId::P03, fmt::format("{} are computed in double precision", of_step(e, work.time)));
  save(f, work.time / e.steps(), 1 - 1 / kMinDouble, 1 - 1 / kMaxDoubleOnCpu);
  f.confidence = Confidence::high;
  f.because = "the types of the operators' inputs are in the file";
  f.evidence = {see::host_time("work of operators, fp64")};
  f.remedy =
      "Find the float64 source: torch.from_numpy(a).float(), dtype=torch.float32 where tensors are made, "
      "Python numbers instead of numpy scalars.";
  f.verify = "No fp64 in `stepscope show host_time`.";
  f.effort = Effort::one_line;
  return f;
}

namespace {

bool too_many(const Evidence& e, const CollectivesOnCpu& all) {
  return all.count >= kManyCollectives * e.steps() && e.share(all.exposed) >= kCollectiveShare;
}

}  // namespace

std::optional<Claim> many_collectives_on_cpu(const Evidence& e) {
  const CollectivesOnCpu all = collectives_on_cpu(e);
  if (!computes_on_cpu(e) || !too_many(e, all)) return std::nullopt;
  const auto place = dearest_place(e, &analyze::LineNode::communicating);
  Claim f = claim(
      e, RuleId::N02,
      fmt::format("{} collectives per step, {} each on average: {} per step are not hidden by compute{}",
                  format_value(all.count / e.steps(), Unit::count), ns(all.total / all.count),
                  ns(all.exposed / e.steps()),
                  place ? "; most of them by " + place->quoted() + place->called_by() : ""));
  save(f, all.exposed / e.steps(), kMergedLeast, kSlowedToo);
  f.confidence = Confidence::high;
  f.because = "their number and length are in the file";
  f.evidence = {see::host_time(fmt::format("collectives on the CPU, {} exposed", per_step(e, all.exposed)))};
  f.remedy =
      "Let DistributedDataParallel bucket gradients (bucket_cap_mb=25 … 100) instead of a loop over "
      "parameters; or reduce one flat tensor.";
  f.verify = "Under 50 collectives per step.";
  f.effort = Effort::code;
  return f;
}

namespace {

/// The phase in which a late rank exceeds this one most, ns per step, of those that no collective lengthens.
struct LongerPhase {
  analyze::Phase phase = analyze::Phase::other;
  std::int64_t there = 0, here = 0;
  std::int64_t excess() const { return there - here; }
};

LongerPhase longest_excess(const Evidence& e, std::int64_t late) {
  LongerPhase most;
  for (const analyze::PhaseTime& of : e.reports().phases.phases) {
    const bool comparable = of.phase == analyze::Phase::data || of.phase == analyze::Phase::forward ||
                            of.phase == analyze::Phase::optimizer;
    if (of.rank != late || !comparable || of.per_step == report::kNoInt) continue;
    const LongerPhase longer{of.phase, of.per_step, e.time_in(of.phase) / e.steps()};
    if (longer.excess() > most.excess()) most = longer;
  }
  return most;
}

std::string_view spoken(analyze::Phase phase) {
  return phase == analyze::Phase::data      ? "wait for data"
         : phase == analyze::Phase::forward ? "forward pass"
                                            : "optimizer";
}

std::string even_out(analyze::Phase phase, std::int64_t rank) {
  if (phase == analyze::Phase::forward)
    return fmt::format(
        "Give each rank as much work: if rank {}'s samples are more or larger, sort by size and deal them "
        "out in "
        "turn, or fill batches to the same number of elements. Else look for cores that it shares.",
        rank);
  if (phase == analyze::Phase::data)
    return fmt::format(
        "Look at rank {}'s loader: its storage, its workers, more or larger samples than on other ranks.",
        rank);
  return fmt::format(
      "Look at rank {}'s own findings: its loader and storage, cores that it shares with other jobs, larger "
      "samples than on other ranks, work that it alone does.",
      rank);
}

}  // namespace

std::optional<Claim> waiting_for_rank_on_cpu(const Evidence& e) {
  const std::vector<analyze::RankWaits>& waits = e.reports().job->stragglers.waits;
  if (waits.size() < 2) return std::nullopt;
  const analyze::RankWaits& late = *std::min_element(
      waits.begin(), waits.end(), [](const auto& a, const auto& b) { return a.waited < b.waited; });
  if (late.rank == e.rank()) return std::nullopt;
  const auto own = e.mine(waits, "Waiting in collectives");
  const std::int64_t mine = own.empty() ? 0 : own.back()->waited;  // ns in the recording
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const analyze::RankWaits& of : waits)
    if (&of != &late) least = std::min(least, of.waited);
  const bool is_late = static_cast<double>(late.waited) <= kLateWaits * static_cast<double>(least);
  const std::int64_t cost = least - late.waited;
  if (!is_late || e.share(cost) < kWaitingOnCpuShare) return std::nullopt;
  const LongerPhase longer = longest_excess(e, late.rank);
  const bool known =
      static_cast<double>(longer.excess() * e.steps()) >= kExplainedWait * static_cast<double>(cost);
  Claim f = claim(e, RuleId::N05,
                  fmt::format("{}: this rank waits in collectives for rank {}{}", of_step(e, mine), late.rank,
                              !known ? ""
                                     : fmt::format(", whose {} takes {} ({} here)", spoken(longer.phase),
                                                   ns(longer.there), ns(longer.here))));
  // Work that is dealt out evenly is not gone: each rank gets a part of what the late one has too much.
  const double dealt_out = 1 - 1 / static_cast<double>(waits.size());
  save(f, cost / e.steps(), kWaitingPessimism * dealt_out,
       known && longer.phase == analyze::Phase::forward ? dealt_out : 1);
  f.confidence = Confidence::medium;
  f.because = "the saving is what the rank that waits least waits longer than the late one";
  f.evidence = {see::stragglers(fmt::format("waiting in collectives, {}; {} on rank {}", per_step(e, mine),
                                            ns(late.waited / e.steps()), late.rank)),
                see::phases(fmt::format("of rank {}", late.rank))};
  f.remedy = even_out(known ? longer.phase : analyze::Phase::other, late.rank);
  f.verify = "stragglers: ranks wait about equally long.";
  f.effort = Effort::code;
  return f;
}

std::optional<Claim> late_reduction_on_cpu(const Evidence& e) {
  const CollectivesOnCpu all = collectives_on_cpu(e);
  if (!computes_on_cpu(e) || all.steps == 0 || too_many(e, all) || all.median_before <= kLateReduction ||
      e.share(all.exposed) < kInformedShare)
    return std::nullopt;
  Claim f =
      claim(e, RuleId::N06,
            fmt::format(
                "Gradients are reduced only after {} of the backward pass: {} per step are not hidden by it",
                percent(all.median_before), ns(all.exposed / e.steps())));
  save(f, std::min(all.exposed, all.before) / e.steps(), 0, 1);
  f.confidence = Confidence::low;
  f.because = "a reduction on the CPU hides behind the backward pass only if it has a core of its own";
  f.evidence = {see::host_time("collectives on the CPU")};
  f.remedy =
      "DistributedDataParallel instead of reducing by hand; smaller buckets (bucket_cap_mb) begin earlier; "
      "no find_unused_parameters=True, or static_graph=True with it: DDP then orders its buckets itself.";
  f.verify = "The first collective of a step begins in the first third of the backward pass.";
  f.effort = Effort::one_line;
  return f;
}

}  // namespace stepscope::advise
