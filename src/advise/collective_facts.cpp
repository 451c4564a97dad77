#include "advise/collective_facts.h"

#include <algorithm>
#include <cmath>

#include "advise/cite.h"
#include "advise/rules/constants.h"

namespace stepscope::advise {

using report::Ints;
using report::Reals;
using report::Table;

std::vector<CollectiveRow> collectives_of(const Evidence& e) {
  std::vector<CollectiveRow> rows;
  const Table* table = table_of(e.reports().collectives, "Collectives by size");
  if (table == nullptr) return rows;
  const auto number = [&](std::string_view column, std::size_t row) {
    const std::int64_t value = (*ints_of(*table, column))[row];
    return value == report::kNoInt ? -1 : value;
  };
  for (std::size_t row = 0; row < table->rows(); ++row) {
    if (!e.mine(*table, row)) continue;
    const double rate = (*reals_of(*table, "bus_rate"))[row];
    rows.push_back({(*texts_of(*table, "collective"))[row], number("group_size", row), number("bytes", row),
                    number("count", row), number("total", row), number("exposed", row), number("p50", row),
                    number("host", row), number("brief", row), rate > 0 ? rate : 0});
  }
  return rows;
}

bool trains(const Evidence& e) { return e.fact(&Facts::for_backward) > 0; }

namespace {
/// What one operator reduces for the next cannot wait for others to be sent with it; gradients can.
bool reduces_gradients(const Evidence& e) {
  const Table* table = table_of(e.reports().collectives, "Reductions in the backward pass");
  for (std::size_t row = 0; table != nullptr && row < table->rows(); ++row)
    if (e.mine(*table, row)) return true;
  return false;
}
}  // namespace

std::optional<TinyCollectives> tiny_collectives(const Evidence& e) {
  std::vector<CollectiveRow> rows = collectives_of(e);
  const bool gradients = reduces_gradients(e);
  std::erase_if(rows, [&](const CollectiveRow& row) {
    const bool brief = row.median < kShortCollective && (gradients || (row.bytes < 0 && trains(e)));
    return !brief && (row.bytes < 0 || row.bytes >= kSmallMessage);
  });
  std::sort(rows.begin(), rows.end(),
            [](const CollectiveRow& a, const CollectiveRow& b) { return a.median < b.median; });
  TinyCollectives tiny;
  for (const CollectiveRow& row : rows) {
    tiny.count += row.count;
    tiny.exposed += row.exposed;
    tiny.host += row.host;
    tiny.total += row.total;
    tiny.brief += row.brief;
  }
  std::int64_t seen = 0;
  for (const CollectiveRow& row : rows) {
    if (seen * 2 < tiny.count) tiny.median = row.median;
    seen += row.count;
  }
  if (tiny.count < kManyCollectives * e.steps() ||
      std::max(e.share(tiny.exposed), e.share(tiny.host)) < kCollectiveShare)
    return std::nullopt;
  return tiny;
}

std::optional<SlowLinks> slow_links(const Evidence& e) {
  if (slow_rank(e)) return std::nullopt;
  SlowLinks slow;
  slow.open = open_ranks(e);
  double total = 0, saved = 0;
  for (const CollectiveRow& row : collectives_of(e)) {
    total += static_cast<double>(row.total);
    if (row.bytes < kLargeMessage || row.ranks < 2 || row.bus_rate <= 0) continue;
    const std::optional<double> waits = slow.open < row.ranks ? std::nullopt : waiting_share(e);
    const double moving = 1 - waits.value_or(0), expected = expected_bus_rate(e, row.ranks);
    if (row.bus_rate >= kSlowLinkShare * expected * moving) continue;
    if (slow.exposed == 0 || row.exposed > slow.dearest.exposed) {
      slow.dearest = row;
      slow.expected = expected;
      slow.waits = waits;
    }
    const double exposed = moving * static_cast<double>(row.exposed),
                 needless = 1 - row.bus_rate / (expected * moving);
    slow.exposed += static_cast<std::int64_t>(exposed);
    slow.beyond += static_cast<std::int64_t>(exposed * needless);
    saved += moving * static_cast<double>(row.total) * needless;
  }
  if (e.share(slow.exposed) < kInformedShare) return std::nullopt;
  slow.factor = 1 - saved / total;
  return slow;
}

std::optional<LateReduction> late_reduction(const Evidence& e) {
  const Table* table = table_of(e.reports().collectives, "Reductions in the backward pass");
  if (table == nullptr) return std::nullopt;
  LateReduction late;
  std::vector<double> shares;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    if (!e.mine(*table, row)) continue;
    shares.push_back((*reals_of(*table, "before_share"))[row]);
    late.exposed += (*ints_of(*table, "exposed"))[row];
    late.could_hide += (*ints_of(*table, "before_first"))[row];
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

namespace {

std::string_view work_of(std::string_view part) {
  if (part == "input") return "loading data";
  if (part == "compute") return "compute kernels";
  if (part == "copy") return "copies";
  if (part == "alloc") return "allocating device memory";
  if (part == "sync") return "blocking calls";
  if (part == "host") return "operators and launches on the host";
  if (part == "python") return "Python or work that is not recorded";
  return "work that was launched and had not started";
}

}  // namespace

std::int64_t open_ranks(const Evidence& e) {
  const report::Table* waits = table_of(e.reports().stragglers, "Waiting in collectives");
  return waits == nullptr ? 1 : static_cast<std::int64_t>(waits->rows());
}

std::optional<double> waiting_share(const Evidence& e) {
  const report::Table* waits = table_of(e.reports().stragglers, "Waiting in collectives");
  if (waits == nullptr) return std::nullopt;
  for (std::size_t row = 0; row < waits->rows(); ++row)
    if (e.mine(*waits, row) && (*ints_of(*waits, "total"))[row] > 0)
      return (*reals_of(*waits, "wait_share"))[row];
  return std::nullopt;
}

std::optional<ShorterTransfers> shorter_transfers(const Evidence& e) {
  const report::Table* table = table_of(e.reports().stragglers, "If transfers took less");
  if (table == nullptr || table->rows() == 0) return std::nullopt;
  const report::Reals& factor = *reals_of(*table, "factor");
  const auto saving_at = [&](double shortened) {
    std::size_t nearest = 0;
    for (std::size_t row = 1; row < table->rows(); ++row)
      if (std::abs(1 - factor[row] - shortened) < std::abs(1 - factor[nearest] - shortened)) nearest = row;
    return (*ints_of(*table, "saving"))[nearest];
  };
  return ShorterTransfers{saving_at(kOverlapLeast), saving_at(kOverlapMost)};
}

std::optional<SlowRank> slowest_rank(const Evidence& e) {
  const report::Table* slow = table_of(e.reports().stragglers, "Stragglers");
  if (slow == nullptr) return std::nullopt;
  const report::Ints &ranks = *ints_of(*slow, "rank"), &cost = *ints_of(*slow, "cost");
  std::optional<SlowRank> found;
  for (std::size_t row = 0; row < slow->rows(); ++row) {
    if ((*texts_of(*slow, "when"))[row] != "every step" || cost[row] <= 0) continue;
    const std::string_view part = (*texts_of(*slow, "part"))[row];
    if (!found || cost[row] > found->cost)
      found = {ranks[row],
               part,
               work_of(part),
               (*ints_of(*slow, "excess"))[row],
               cost[row],
               (*ints_of(*slow, "time"))[row],
               (*ints_of(*slow, "others_time"))[row],
               (*ints_of(*slow, "apart"))[row],
               (*ints_of(*slow, "cost_low"))[row],
               (*ints_of(*slow, "cost_high"))[row],
               (*texts_of(*slow, "cost_by"))[row] == "replay"};
  }
  return found;
}

std::optional<SlowKernels> slow_kernels(const Evidence& e, const SlowRank& slow) {
  const Table* kernels = table_of(e.reports().stragglers, "Kernels of stragglers");
  if (kernels == nullptr) return std::nullopt;
  const auto real = [&](std::string_view column, std::size_t row) {
    return (*reals_of(*kernels, column))[row];
  };
  for (std::size_t row = 0; row < kernels->rows(); ++row)
    if ((*ints_of(*kernels, "rank"))[row] == slow.rank)
      return SlowKernels{(*ints_of(*kernels, "against"))[row],
                         real("calls", row),
                         real("others_calls", row),
                         real("same_share", row),
                         real("pace", row),
                         real("even_share", row)};
  return std::nullopt;
}

std::optional<PipelineStage> pipeline_stage(const Evidence& e) {
  const Table* stages = table_of(e.reports().pipeline, "Stages");
  if (stages == nullptr) return std::nullopt;
  const auto number = [&](std::string_view column, std::size_t row) {
    return (*ints_of(*stages, column))[row];
  };
  const Reals &share = *reals_of(*stages, "bubble_share"), &ideal = *reals_of(*stages, "ideal_share");
  for (std::size_t row = 0; row < stages->rows(); ++row) {
    if (!e.mine(*stages, row)) continue;
    PipelineStage stage{number("stage", row),
                        number("stages", row),
                        number("micro_batches", row),
                        number("chunks", row),
                        number("length", row),
                        number("bubble", row),
                        number("waiting", row),
                        share[row],
                        ideal[row],
                        share[row],
                        share[row]};
    for (std::size_t other = 0; other < stages->rows(); ++other) {
      if (number("pipeline", other) != number("pipeline", row)) continue;
      stage.least = std::min(stage.least, share[other]);
      stage.most = std::max(stage.most, share[other]);
    }
    return stage;
  }
  return std::nullopt;
}

std::optional<SlowRank> slow_rank(const Evidence& e) {
  const std::optional<SlowRank> slowest = slowest_rank(e);
  return slowest && slowest->rank != e.rank() ? slowest : std::nullopt;
}

}  // namespace stepscope::advise
