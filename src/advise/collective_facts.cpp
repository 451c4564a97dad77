#include "advise/collective_facts.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "advise/cite.h"
#include "advise/rules/constants.h"
#include "report/statistics.h"

namespace stepscope::advise {

using analyze::CollectiveSize;
using derive::StepPart;

std::vector<const CollectiveSize*> collective_sizes(const Evidence& e) {
  return e.mine(e.reports().collectives.sizes, "Collectives by size");
}

bool trains(const Evidence& e) { return e.fact(&Facts::for_backward) > 0; }

namespace {
std::vector<const analyze::StepReduction*> reductions(const Evidence& e) {
  return e.mine(e.reports().collectives.reductions, "Reductions in the backward pass");
}
}  // namespace

std::optional<TinyCollectives> tiny_collectives(const Evidence& e) {
  std::vector<const CollectiveSize*> rows = collective_sizes(e);
  // Gradients can be merged into larger collectives; a value that the next operator needs cannot wait.
  const bool gradients = !reductions(e).empty();
  std::erase_if(rows, [&](const CollectiveSize* row) {
    const bool brief = row->p50 < kShortCollective && (gradients || (row->bytes < 0 && trains(e)));
    return !brief && (row->bytes < 0 || row->bytes >= kSmallMessage);
  });
  std::sort(rows.begin(), rows.end(),
            [](const CollectiveSize* a, const CollectiveSize* b) { return a->p50 < b->p50; });
  TinyCollectives tiny;
  for (const CollectiveSize* row : rows) {
    tiny.count += row->count;
    tiny.exposed += row->exposed;
    tiny.host += row->host;
    tiny.total += row->total;
    tiny.brief += row->brief;
  }
  std::int64_t seen = 0;
  for (const CollectiveSize* row : rows) {
    if (seen * 2 < tiny.count) tiny.median = row->p50;
    seen += row->count;
  }
  if (tiny.count < kManyCollectives * e.steps() ||
      std::max(e.share(tiny.exposed), e.share(tiny.host)) < kCollectiveShare)
    return std::nullopt;
  return tiny;
}

namespace {
/// The fastest rate of such collectives over all ranks, which is without waits; 0 if they are not matched.
double fastest_rate(const Evidence& e, const CollectiveSize& row) {
  double fastest = 0;
  for (const analyze::MatchedSize& of : e.reports().job->communication.sizes)
    if (of.exchange == row.exchange && of.ranks == row.group_size && of.bytes <= row.bytes &&
        row.bytes <= of.bytes_max && of.bus_rate > fastest)
      fastest = of.bus_rate;
  return fastest;
}
}  // namespace

std::optional<SlowLinks> slow_links(const Evidence& e) {
  if (slow_rank(e)) return std::nullopt;
  SlowLinks slow;
  slow.open = open_ranks(e);
  double total = 0, saved = 0;
  for (const CollectiveSize* row : collective_sizes(e)) {
    total += static_cast<double>(row->total);
    if (row->bytes < kLargeMessage || row->group_size < 2 || !(row->bus_rate > 0)) continue;
    const std::optional<double> waits = slow.open < row->group_size ? std::nullopt : waiting_share(e);
    const double moving = 1 - waits.value_or(0), expected = expected_bus_rate(e, row->group_size);
    const double matched = waits ? fastest_rate(e, *row) : 0;
    const double rate = matched > 0 ? matched : row->bus_rate / moving;
    if (rate >= kSlowLinkShare * expected) continue;
    if (slow.exposed == 0 || row->exposed > slow.dearest->exposed) {
      slow.dearest = row;
      slow.rate = rate;
      slow.expected = expected;
      slow.waits = waits;
    }
    const double exposed = moving * static_cast<double>(row->exposed), needless = 1 - rate / expected;
    slow.exposed += static_cast<std::int64_t>(exposed);
    slow.beyond += static_cast<std::int64_t>(exposed * needless);
    saved += moving * static_cast<double>(row->total) * needless;
  }
  if (e.share(slow.exposed) < kInformedShare) return std::nullopt;
  slow.factor = 1 - saved / total;
  return slow;
}

std::optional<LateReduction> late_reduction(const Evidence& e) {
  LateReduction late;
  std::vector<double> shares;
  for (const analyze::StepReduction* step : reductions(e)) {
    shares.push_back(step->before_share);
    late.exposed += step->exposed;
    late.could_hide += step->before_first;
  }
  if (shares.empty()) return std::nullopt;
  std::sort(shares.begin(), shares.end());
  late.before = shares[shares.size() / 2];
  if (late.before <= kLateReduction || late.exposed == 0) return std::nullopt;
  const auto steps = static_cast<std::int64_t>(shares.size());
  late.exposed /= steps;
  late.could_hide /= steps;
  return late;
}

std::string_view work_of(StepPart part) {
  constexpr std::string_view kPending = "work that was launched but had not started";
  constexpr std::string_view kWork[derive::kStepParts] = {
      "compute kernels",
      kPending,
      kPending,
      "copies",
      "loading data",
      "allocating device memory",
      "blocking calls",
      "operators and launches on the host",
      "Python or unrecorded work",
      kPending,
  };
  return kWork[static_cast<std::size_t>(part)];
}

std::int64_t open_ranks(const Evidence& e) {
  return std::max<std::int64_t>(1, std::ssize(e.reports().job->stragglers.waits));
}

bool all_ranks_are_open(const Evidence& e) {
  const std::int64_t open = open_ranks(e);
  for (const analyze::CollectiveSize* row : collective_sizes(e))
    if (row->group_size > open) return false;
  return true;
}

std::optional<double> waiting_share(const Evidence& e) {
  for (const analyze::RankWaits* own : e.mine(e.reports().job->stragglers.waits, "Waiting in collectives"))
    if (own->total > 0) return own->wait_share;
  return std::nullopt;
}

std::optional<TransferSavings> transfer_savings(const Evidence& e) {
  const std::vector<analyze::ShorterTransfers>& tried = e.reports().job->stragglers.shorter_transfers;
  if (tried.empty()) return std::nullopt;
  const auto saving_at = [&](double shortened) {
    const auto off = [&](const analyze::ShorterTransfers& t) { return std::abs(1 - t.factor - shortened); };
    return std::min_element(tried.begin(), tried.end(),
                            [&](const auto& a, const auto& b) { return off(a) < off(b); })
        ->saving;
  };
  return TransferSavings{saving_at(kOverlapLeast), saving_at(kOverlapMost)};
}

const analyze::SlowRank* slowest_rank(const Evidence& e) {
  const analyze::SlowRank* found = nullptr;
  for (const analyze::SlowRank& slow : e.reports().job->stragglers.slow)
    if (slow.always() && slow.cost > 0 && (found == nullptr || slow.cost > found->cost)) found = &slow;
  return found;
}

const analyze::SlowRank* slow_rank(const Evidence& e) {
  const analyze::SlowRank* slowest = slowest_rank(e);
  return slowest != nullptr && slowest->rank != e.rank() ? slowest : nullptr;
}

const analyze::SlowTogether* slow_together(const Evidence& e) {
  const std::optional<analyze::SlowTogether>& all = e.reports().job->stragglers.together;
  const analyze::SlowRank* one = slowest_rank(e);
  if (!all || e.share(all->cost * e.steps()) < kWaitingShare) return nullptr;
  const double alone = one != nullptr ? static_cast<double>(one->cost) : 0;
  return static_cast<double>(all->cost) >= kMoreTogether * alone ? &*all : nullptr;
}

const analyze::RankApart* rank_apart(const Evidence& e) {
  for (const analyze::RankApart& apart : e.reports().job->stragglers.apart)
    if (apart.rank == e.rank()) return &apart;
  return nullptr;
}

const analyze::RankExposed* exposed_on(const Evidence& e) {
  for (const analyze::RankExposed& of : e.reports().job->communication.ranks)
    if (of.rank == e.rank() && of.exposed_transfer != report::kNoInt) return &of;
  return nullptr;
}

const analyze::SlowKernels* slow_kernels(const Evidence& e, const analyze::SlowRank& slow) {
  for (const analyze::SlowKernels& kernels : e.reports().job->stragglers.kernels)
    if (kernels.rank == slow.rank) return &kernels;
  return nullptr;
}

const analyze::PipelineStage* pipeline_stage(const Evidence& e) {
  const auto stages = e.mine(e.reports().job->pipeline.stages, "Stages");
  return stages.empty() ? nullptr : stages.front();
}

const analyze::StageBalance* uneven_stages(const Evidence& e) {
  const analyze::PipelineStage* own = pipeline_stage(e);
  if (own == nullptr) return nullptr;
  for (const analyze::StageBalance& balance : e.reports().job->pipeline.balance)
    if (balance.pipeline == own->pipeline && balance.beyond >= kUnevenStages) return &balance;
  return nullptr;
}

std::pair<double, double> bubble_shares(const Evidence& e, std::int64_t pipeline) {
  std::pair<double, double> range{1, 0};
  for (const analyze::PipelineStage& stage : e.reports().job->pipeline.stages)
    if (stage.pipeline == pipeline)
      range = {std::min(range.first, stage.bubble_share), std::max(range.second, stage.bubble_share)};
  return range;
}

CollectivesOnCpu collectives_on_cpu(const Evidence& e) {
  CollectivesOnCpu sum;
  std::vector<double> shares;
  for (const analyze::HostCollectives* step :
       e.mine(e.reports().host_time.collectives, "Collectives on the CPU")) {
    ++sum.steps;
    sum.count += step->collectives;
    report::add_to(sum.total, step->total);
    report::add_to(sum.exposed, step->exposed);
    report::add_to(sum.before, step->before_first);
    if (step->backward > 0) shares.push_back(report::ratio(step->before_first, step->backward));
  }
  std::sort(shares.begin(), shares.end());
  if (!shares.empty()) sum.median_before = shares[shares.size() / 2];
  return sum;
}

}  // namespace stepscope::advise
