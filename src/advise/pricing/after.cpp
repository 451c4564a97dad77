// The second stage: what each change saves once those above it are made.
#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <tuple>
#include <utility>

#include "advise/pricing/pricing.h"
#include "advise/rules/constants.h"
#include "base/parallel.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::advise {
namespace {

/// A candidate in the chain of changes.
struct Link {
  Priced priced;
  Tried tried;
  Range after{};
  Saved total{};  ///< saved by this and those above it
  bool covered = false, small = false;

  /// Whether its saving after the others has a low end of its own.
  bool ranges_later() const { return priced.next && !priced.claim.mild.empty(); }
};

std::size_t first_replayed(const std::vector<Link>& links) {
  const auto first =
      std::find_if(links.begin(), links.end(), [](const Link& link) { return link.priced.by_replay; });
  return static_cast<std::size_t>(first - links.begin());
}

Saved most_of(const Saved& a, const Saved& b) {
  return {std::max(a.recorded, b.recorded), std::max(a.unrecorded, b.unrecorded)};
}

/// Changes by link, each merged with all above it.
struct Sums {
  std::vector<Change> ideal, mild;  ///< not `found` if nothing is above
  Saved before;                     ///< saved by the links before `from`
  Saved estimated_too;              ///< saved by those above and by removing what estimates are a part of
};

/// A `next` link limits only after what the estimates are a part of is gone as well.
Sums summed(const std::vector<Link>& links, std::size_t from, const Replays& replays) {
  Sums sums{std::vector<Change>(links.size()), std::vector<Change>(links.size()), {}, {}};
  const std::size_t first = first_replayed(links);
  Change all, estimated;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const auto& [priced, tried, after, total, covered, small] = links[i];
    const Claim& claim = priced.claim;
    if (replays.usable && claim.ideal.empty() && !priced.next && !claim.removed.empty())
      estimated.add(replays.change_of(claim.removed));
    if (!priced.by_replay) continue;
    if (priced.next && estimated.found) {
      all.add(estimated);
      estimated = {};
      sums.estimated_too = replays.saved(all);
    }
    if (i >= from && links[i].ranges_later()) {
      sums.mild[i] = all;
      sums.mild[i].add(tried.mild);
    }
    all.add(tried.ideal);
    if (i >= from && (i != first || priced.next)) sums.ideal[i] = all;
    if (i < from) sums.before = most_of(sums.before, total);
  }
  return sums;
}

/// What a link adds to `before`.
void add_range(Link& link, const Saved& mild_total, const Saved& before, const Basis& basis) {
  const Priced& p = link.priced;
  const Saved added = link.total.above(before), mildly_added = mild_total.above(before);
  link.after.high = added.most();
  link.small = p.next && link.after.high < least_saving(basis.step - before.recorded,
                                                        std::max(kMinShare, p.claim.least_after));
  const double ratio = p.saving.high > 0 ? report::ratio(p.saving.low, p.saving.high) : p.claim.pessimism;
  link.after.low = link.ranges_later() ? std::min(mildly_added.least(), link.after.high)
                                       : std::min(added.least(), part(link.after.high, ratio));
}

/// Differences of replays with more and more changes, for the links from `from` on.
std::vector<Link> chained(std::vector<Link> links, std::size_t from, const Basis& basis,
                          const Replays& replays, unsigned threads) {
  if (from >= links.size()) return links;
  const Sums sums = summed(links, from, replays);
  std::vector<Saved> mild_totals(links.size());
  parallel_for(2 * (links.size() - from), thread_count(threads), [&](std::size_t task) {
    const std::size_t i = from + task / 2;
    Link& link = links[i];
    if (!link.priced.by_replay) return;
    if (task % 2 == 0)
      link.total = sums.ideal[i].found ? replays.saved(sums.ideal[i]) : link.tried.saved;
    else if (link.ranges_later())
      mild_totals[i] = replays.saved(sums.mild[i]);
  });
  Saved before = sums.before;
  for (std::size_t i = from; i < links.size(); ++i) {
    Link& link = links[i];
    if (!link.priced.by_replay) continue;
    if (link.priced.next) before = most_of(before, sums.estimated_too);
    add_range(link, mild_totals[i], before, basis);
    before = most_of(before, link.total);
  }
  return links;
}

/// Whether it saves little while those above limit, and much after them.
bool waits_for_others(const Link& link, const Basis& basis) {
  return part(link.after.high, 1 / kSavesLater) > link.priced.saving.high &&
         link.after.high - link.priced.saving.high >= basis.least();
}

/// Moves links that add nothing, or save most only after the others, to the end.
std::vector<Link> covered_last(std::vector<Link> links, const Basis& basis, const Replays& replays,
                               unsigned threads) {
  for (std::size_t i = first_replayed(links) + 1; i < links.size(); ++i) {
    Link& link = links[i];
    link.covered = !link.priced.next && link.priced.by_replay &&
                   (link.after.high < basis.least() || waits_for_others(link, basis));
  }
  const auto covered = [](const Link& link) { return link.covered; };
  const auto moved = std::find_if(links.begin(), links.end(), covered) - links.begin();
  const bool same = std::all_of(links.begin() + moved, links.end(), covered);
  std::stable_partition(links.begin(), links.end(), std::not_fn(covered));
  if (!same) links = chained(std::move(links), static_cast<std::size_t>(moved), basis, replays, threads);
  for (Link& link : links) link.priced.next |= link.covered && link.after.high >= basis.least();
  return links;
}

/// For a finding that limits now: what limits after it, and that the high end is without a profiler.
std::string aside_of(const Priced& p) {
  if (p.next) return "";
  if (!p.unrecorded) return p.aside;
  return p.aside + fmt::format("{} to {} if no profiler slows the host", p.aside.empty() ? "Up" : "; up",
                               report::format_rough(static_cast<double>(p.saving.high), report::Unit::ns));
}

/// At low confidence, a range that begins at nothing is a limit rather than an estimate.
bool is_limit(const Priced& p) { return p.saving.low == 0 && p.confidence == Confidence::low; }

Ranked ranked(Link link, const Basis& basis) {
  Ranked out{std::move(link.priced), link.after, link.covered, link.small};
  if (!out.next || !out.by_replay) out.small = out.saving.known() && out.saving.high < basis.least();
  if (out.saving.known() && out.saving.low < part(basis.step, kMinShare)) out.saving.low = 0;
  out.much = out.saving.known() && !is_limit(out) &&
             (out.saving.low + out.saving.high) / 2 >= part(basis.step, kMuchShare);
  out.aside = aside_of(out);
  return out;
}

/// Expected saving: the middle of the range, weighed by confidence; of a limit less, as small savings are
/// likelier in it.
double expected(const Priced& p) {
  if (!p.saving.known()) return 0;
  constexpr double kWeight[] = {0.4, 0.7, 1.0};
  const auto sum = static_cast<double>(p.saving.low) + static_cast<double>(p.saving.high);
  return sum / (is_limit(p) ? 3 : 2) * kWeight[static_cast<std::size_t>(p.confidence)] * p.claim.typical;
}

/// The order in which findings are shown; a `next` one
/// that was covered comes after other `next` ones.
int place_of(const Ranked& f) {
  if (f.claim.ends_run) return -1;
  if (f.small) return 5;
  if (f.next) return f.covered ? 2 : 1;
  return f.covered ? 3 : f.saving.known() ? 0 : 4;
}

}  // namespace

bool stands_before(const Priced& a, int place_of_a, const Priced& b, int place_of_b) {
  if (place_of_a != place_of_b) return place_of_a < place_of_b;
  const double of_a = expected(a), of_b = expected(b);
  if (of_a != of_b) return of_a > of_b;
  return std::tie(a.claim.effort, a.claim.id, a.claim.rank) <
         std::tie(b.claim.effort, b.claim.id, b.claim.rank);
}

bool ranks_before(const Ranked& a, const Ranked& b) { return stands_before(a, place_of(a), b, place_of(b)); }

void put_in_order(std::vector<Ranked>& findings) {
  std::stable_sort(findings.begin(), findings.end(), ranks_before);
  const auto is_estimate = [](const Ranked& f) { return f.much && place_of(f) == 0; };
  const auto behind = std::find_if(findings.rbegin(), findings.rend(), is_estimate).base();
  std::stable_partition(findings.begin(), behind, [](const Ranked& f) { return !f.claim.general; });
}

report::When when_of(const Ranked& f) {
  using report::When;
  if (f.small) return f.next ? When::hidden : When::small;
  if (f.next) return When::next;
  if (f.covered) return When::covered;
  return f.saving.known() ? When::now : When::fact;
}

Ranking price_after(std::vector<Candidate> candidates, const Basis& basis, const Replays& replays,
                    unsigned threads) {
  std::vector<Link> links;
  for (Candidate& candidate : candidates)
    links.push_back({std::move(candidate.priced), std::move(candidate.tried)});
  links = covered_last(chained(std::move(links), 0, basis, replays, threads), basis, replays, threads);
  Ranking ranking;
  for (Link& link : links) {
    if (link.priced.by_replay && !link.priced.next && !link.covered) ranking.limiting = link.total;
    ranking.findings.push_back(ranked(std::move(link), basis));
  }
  return ranking;
}

}  // namespace stepscope::advise
