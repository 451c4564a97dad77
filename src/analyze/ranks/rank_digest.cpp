#include "analyze/ranks/rank_digest.h"

#include <set>

#include "analyze/derived.h"
#include "derive/ranks/step_parts.h"

namespace stepscope::analyze {
namespace {

/// The device with most compute.
std::size_t main_device(const std::vector<derive::DeviceBusy>& devices) {
  std::size_t best = 0;
  for (std::size_t d = 1; d < devices.size(); ++d)
    if (devices[d].compute.length() > devices[best].compute.length()) best = d;
  return best;
}

}  // namespace

RankSteps rank_steps(const Derived& derived, const trace::Rank& rank) {
  RankSteps of;
  std::set<std::int64_t> seen;
  std::vector<bool> chosen(rank.steps.size());
  for (const StepSpan& span : step_spans(rank)) {
    const trace::Step& step = rank.steps[span.index];
    if (!step.counts() || span.partial || !derived.choice().includes(step)) continue;
    if (!seen.insert(step.number).second) continue;
    chosen[span.index] = true;
    of.numbers.push_back(step.number);
    of.spans.push_back(span.span);
  }
  const std::vector<derive::DeviceBusy>& devices = derived.busy(rank);
  if (devices.empty()) return of;
  const std::size_t device = main_device(devices);
  Column<derive::IdlePiece> pieces;
  for (const derive::IdlePiece& piece : derived.idle(rank))
    if (static_cast<std::size_t>(piece.device) == device) pieces.push_back(piece);
  derive::StepParts parts = derive::step_parts(devices[device], pieces, of.spans);
  of.parts = std::move(parts.steps);
  of.communication = std::move(parts.communication);
  of.kernels = derive::kernel_totals(derived.trace(), rank, chosen);
  of.bubbles = derive::bubbles(derived.trace(), rank, devices[device], of.spans);
  return of;
}

RankDigest digest_of(const Derived& derived, const trace::Rank& rank) {
  RankDigest digest;
  digest.steps = rank_steps(derived, rank);
  digest.collectives = derive::collective_rows(derived.trace(), rank, digest.groups);
  digest.collectives.shrink_to_fit();
  digest.communication = rank_communication(derived, rank, digest.collectives);
  return digest;
}

derive::Collectives match_digests(std::vector<RankDigest>& ranks, std::vector<std::int64_t> numbers) {
  derive::GroupNames groups;
  std::vector<std::vector<derive::CollectiveRow>> rows;
  for (RankDigest& rank : ranks) {
    std::vector<std::uint32_t> ids;
    for (std::uint32_t id = 0; id < rank.groups.size(); ++id)
      ids.push_back(groups.id(rank.groups.members(id), rank.groups.name(id), rank.groups.description(id)));
    for (derive::CollectiveRow& row : rank.collectives) row.group = ids[row.group];
    rows.push_back(std::move(rank.collectives));
    rank.collectives.clear();
    rank.groups = {};
  }
  return derive::matched(std::move(groups), std::move(rows), std::move(numbers));
}

}  // namespace stepscope::analyze
