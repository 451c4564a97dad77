#include "analyze/replay/whatif.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/list.h"
#include "analyze/replay/whatif_job.h"
#include "report/judgement.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {
namespace {

using report::kNoInt;
using report::Role;
using report::Shape;
using report::Unit;
using trace::Rank;

/// Each typed scale alone, then all of them together.
std::vector<Asked> asked_by(const std::vector<TypedScale>& typed) {
  std::vector<Asked> asked;
  Asked all{"all together", {}};
  for (const TypedScale& part : typed) {
    asked.push_back({part.text, {part.scale}});
    all.scales.push_back(part.scale);
  }
  if (typed.size() > 1) asked.push_back(std::move(all));
  return asked;
}

Answered answer_alone(const Derived& derived, const Asked& asked) {
  Answered out;
  for (const Rank& rank : derived.trace().ranks) {
    const ReplayedRank& replayed = derived.replayed(rank);
    const Change change = replayed.change_of(asked.scales);
    out.found.push_back(change.found);
    out.lengths.push_back(replayed.usable() && change.found ? replayed.length(change) : replayed.identity());
  }
  return out;
}

Answered answer_together(const Derived& derived, const Asked& asked) {
  Answered out;
  const ReplayedJob& job = derived.job();
  std::vector<bool> absent = stragglers_in(asked.scales, derived.trace());
  for (std::size_t r = 0; r < absent.size(); ++r)
    if (absent[r] && !job.does_without(r))
      out.refused =
          fmt::format("The other ranks cannot be replayed without rank {}: it sends them their inputs.",
                      derived.trace().ranks[r].rank);
  if (out.refused.empty() && std::find(absent.begin(), absent.end(), false) != absent.end())
    out.changes.absent = std::move(absent);
  for (std::size_t r = 0; r < derived.trace().ranks.size(); ++r) {
    Change change = job.rank(r).change_of(asked.scales);
    out.found.push_back(change.found || !out.changes.absent.empty());
    out.changes.ranks.push_back(std::move(change.changes));
  }
  out.lengths = job.lengths(out.changes);
  return out;
}

RankCheck rank_check(const Rank& rank, const ReplayedRank& replayed, std::int64_t identity) {
  const std::int64_t steps = replayed.steps(), recorded = replayed.recorded();
  return {rank.rank, steps, report::mean(recorded, steps), report::mean(identity, steps),
          std::abs(report::ratio(identity - recorded, recorded))};
}

RankChange rank_change(const Rank& rank, const ReplayedRank& replayed, const Asked& asked, bool found,
                       bool usable, std::int64_t identity, std::int64_t now) {
  if (!usable) return {rank.rank, asked.name, kNoInt, kNoInt, report::kNoReal, found};
  return {rank.rank,
          asked.name,
          report::mean(now, replayed.steps()),
          report::mean(identity - now, replayed.steps()),
          report::ratio(identity - now, identity),
          found};
}

std::string nothing_of(const TypedScale& typed, const trace::Trace& trace) {
  std::string said = fmt::format("Nothing in the recording matches {}.", typed.text);
  if (typed.scale.what != Scale::What::straggler || !trace.several()) return said;
  std::vector<std::int64_t> ranks;
  for (const Rank& rank : trace.ranks) ranks.push_back(rank.rank);
  return said + fmt::format(" The ranks are {}.", report::listed_ranks(std::move(ranks)));
}

const report::Sheet<RankCheck> kRankCheckSheet{"Replay without changes",
                                               Shape::table,
                                               {report::rank_field<RankCheck>(&RankCheck::rank),
                                                {"steps", &RankCheck::steps, Unit::count},
                                                {"recorded", &RankCheck::recorded, Unit::ns},
                                                {"identity", &RankCheck::identity, Unit::ns},
                                                {"error", &RankCheck::error, Unit::share}}};

const report::Sheet<RankChange> kRankChangeSheet{
    "What would change",
    Shape::bars,
    {report::rank_field<RankChange>(&RankChange::rank),
     {"change", &RankChange::change},
     {"step", &RankChange::step, Unit::ns},
     {"saving", &RankChange::saving, Unit::ns},
     {"share", &RankChange::share, Unit::share, Role::share},
     {"found", +[](const RankChange& of) { return std::string(of.found ? "yes" : "no"); }, Role::detail}}};

}  // namespace

constexpr report::ParamSpec kWhatifParams[] = {
    {"scale", report::ParamSpec::Type::texts,
     "data_loading=0;sync=0;alloc=0;launch=0;host=0.5;compute=0.5;comm=0;copy=0", "",
     "what to change, e.g. 'data_loading=0; kernel:/gemm|conv/=0.5': WHAT=FACTOR, separated by ';'"}};

constinit const About whatif_about = {kWhatifParams, true, Needs::all_ranks};

WhatIf whatif_of(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  WhatIf out;
  std::vector<std::string>& notes = out.notes;
  const auto scales = parse_scales(params.text("scale", kWhatifParams[0].fallback));
  if (!scales) notes.push_back("--scale: " + scales.error().message + ".");
  const std::vector<Asked> asked = asked_by(scales ? *scales : std::vector<TypedScale>{});
  const bool together = trace.ranks.size() > 1 && derived.job().usable();
  std::vector<Answered> answers;
  for (const Asked& one : asked)
    answers.push_back(together ? answer_together(derived, one) : answer_alone(derived, one));
  std::int64_t devices = 0;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const Rank& rank = trace.ranks[r];
    const ReplayedRank& replayed = derived.replayed(rank);
    const std::int64_t identity = together ? derived.job().identity()[r] : replayed.identity();
    out.checks.push_back(rank_check(rank, replayed, identity));
    for (std::size_t i = 0; i < asked.size(); ++i)
      out.changes.push_back(rank_change(rank, replayed, asked[i], answers[i].found[r],
                                        together ? replayed.has_device() : replayed.usable(), identity,
                                        answers[i].lengths[r]));
    devices += replayed.has_device();
    if (scales && !together && replayed.has_device() && !replayed.usable())
      notes.push_back(fmt::format(
          "Refused: the replay of {} without changes is {} off the recorded time (at most 5 % is accepted), "
          "so savings would be guesses. The recording does not show what its events waited for.",
          rank.rank < 0 ? "the recording" : fmt::format("rank {}", rank.rank),
          report::format_value(replayed.error(), report::Unit::share)));
  }
  for (std::size_t i = 0; params.has("scale") && devices > 0 && scales && i < scales->size(); ++i)
    if (std::find(answers[i].found.begin(), answers[i].found.end(), true) == answers[i].found.end())
      notes.push_back(answers[i].refused.empty() ? nothing_of((*scales)[i], trace) : answers[i].refused);
  if (devices == 0 && scales)
    notes.emplace_back(
        "There is nothing to replay: no device activity is recorded. Record with ProfilerActivity.CUDA (or "
        "XPU, MTIA …) and CPU.");
  if (devices > 1 && scales) note_ranks(trace, derived.job(), together, notes);
  if (together) out.job = whatif_job(derived, asked, answers);
  return out;
}

report::Report printed(const WhatIf& of, bool several_ranks) {
  report::Report report{"whatif",
                        {tabulate(kRankCheckSheet, of.checks, several_ranks),
                         tabulate(kRankChangeSheet, of.changes, several_ranks)},
                        of.notes};
  if (of.job) add_tables(report.tables, *of.job);
  return report;
}

report::Report whatif(const Derived& derived, const report::Params& params) {
  return printed(whatif_of(derived, params), derived.trace().several());
}

}  // namespace stepscope::analyze
