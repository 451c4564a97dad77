// What a step would take if something in it were faster: the recording replayed with changes.
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

struct CheckTable {
  explicit CheckTable(const trace::Trace& trace)
      : rank(table, trace),
        steps(table.ints("steps", Unit::count)),
        recorded(table.ints("recorded", Unit::ns)),
        identity(table.ints("identity", Unit::ns)),
        error(table.reals("error", Unit::share)) {}
  report::Table table{"Replay without changes", Shape::table, {}};
  RankColumn rank;
  report::Ints &steps, &recorded, &identity;
  report::Reals& error;
};

struct ChangeTable {
  explicit ChangeTable(const trace::Trace& trace)
      : rank(table, trace),
        change(table.texts("change")),
        step(table.ints("step", Unit::ns)),
        saving(table.ints("saving", Unit::ns)),
        share(table.reals("share", Unit::share, Role::share)),
        found(table.texts("found", Role::detail)) {}
  report::Table table{"What would change", Shape::bars, {}};
  RankColumn rank;
  report::Texts& change;
  report::Ints &step, &saving;
  report::Reals& share;
  report::Texts& found;
};

/// What was typed, part by part.
struct Typed {
  std::vector<std::string> texts;
  std::vector<Scale> scales;
};
Typed typed_by(const std::vector<TypedScale>& parts) {
  Typed typed;
  for (const TypedScale& part : parts) {
    typed.texts.push_back(part.text);
    typed.scales.push_back(part.scale);
  }
  return typed;
}

std::vector<Asked> asked_by(const Typed& typed) {
  const auto& [texts, scales] = typed;
  std::vector<Asked> asked;
  for (std::size_t i = 0; i < scales.size(); ++i) asked.push_back({texts[i], {&scales[i], 1}});
  if (scales.size() > 1) asked.push_back({"all together", scales});
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
          fmt::format("The others cannot be replayed without rank {}: it sends them what they work on.",
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

void add_check(CheckTable& out, const Rank& rank, const ReplayedRank& replayed, std::int64_t identity) {
  out.rank.add(rank);
  out.steps.push_back(replayed.steps());
  out.recorded.push_back(report::mean(replayed.recorded(), replayed.steps()));
  out.identity.push_back(report::mean(identity, replayed.steps()));
  out.error.push_back(std::abs(report::ratio(identity - replayed.recorded(), replayed.recorded())));
}

void add_change(ChangeTable& out, const Rank& rank, const ReplayedRank& replayed, const Asked& asked,
                bool found, bool usable, std::int64_t identity, std::int64_t now) {
  out.rank.add(rank);
  out.change.push_back(asked.name);
  out.found.emplace_back(found ? "yes" : "nothing of that name");
  out.step.push_back(usable ? report::mean(now, replayed.steps()) : kNoInt);
  out.saving.push_back(usable ? report::mean(identity - now, replayed.steps()) : kNoInt);
  out.share.push_back(usable ? report::ratio(identity - now, identity) : report::kNoReal);
}

std::string nothing_of(const TypedScale& typed, const trace::Trace& trace) {
  std::string said = fmt::format("Nothing in the recording is what {} speaks of.", typed.text);
  if (typed.scale.what != Scale::What::straggler || !trace.several()) return said;
  std::vector<std::int64_t> ranks;
  for (const Rank& rank : trace.ranks) ranks.push_back(rank.rank);
  return said + fmt::format(" The ranks are {}.", report::listed_ranks(std::move(ranks)));
}

}  // namespace

constexpr report::ParamSpec kWhatifParams[] = {
    {"scale", report::ParamSpec::Type::texts,
     "data_loading=0;sync=0;alloc=0;launch=0;host=0.5;compute=0.5;comm=0;copy=0", "",
     "what to change, e.g. 'data_loading=0; kernel:/gemm|conv/=0.5': WHAT=FACTOR, separated by ';'"}};

constinit const About whatif_about = {kWhatifParams, true, Needs::all_ranks};

report::Report whatif(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  CheckTable checks(trace);
  ChangeTable changes(trace);
  report::Report report{"whatif", {}, {}};
  const auto scales = parse_scales(params.text("scale", kWhatifParams[0].fallback));
  if (!scales) report.notes.push_back("--scale: " + scales.error().message + ".");
  const Typed typed = scales ? typed_by(*scales) : Typed{};
  const std::vector<Asked> asked = asked_by(typed);
  const bool together = trace.ranks.size() > 1 && derived.job().usable();
  std::vector<Answered> answers;
  for (const Asked& one : asked)
    answers.push_back(together ? answer_together(derived, one) : answer_alone(derived, one));
  std::int64_t devices = 0;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const Rank& rank = trace.ranks[r];
    const ReplayedRank& replayed = derived.replayed(rank);
    const std::int64_t identity = together ? derived.job().identity()[r] : replayed.identity();
    add_check(checks, rank, replayed, identity);
    for (std::size_t i = 0; i < asked.size(); ++i)
      add_change(changes, rank, replayed, asked[i], answers[i].found[r],
                 together ? replayed.has_device() : replayed.usable(), identity, answers[i].lengths[r]);
    devices += replayed.has_device();
    if (scales && !together && replayed.has_device() && !replayed.usable())
      report.notes.push_back(fmt::format(
          "Refused: replayed without changes, {} is {} off what was recorded (at most 5 % is "
          "accepted), so savings would be guesses. The recording lacks what its events waited for.",
          rank.rank < 0 ? "the recording" : fmt::format("rank {}", rank.rank),
          report::format_value(replayed.error(), report::Unit::share)));
  }
  for (std::size_t i = 0; params.has("scale") && devices > 0 && scales && i < scales->size(); ++i)
    if (std::find(answers[i].found.begin(), answers[i].found.end(), true) == answers[i].found.end())
      report.notes.push_back(answers[i].refused.empty() ? nothing_of((*scales)[i], trace)
                                                        : answers[i].refused);
  if (devices == 0 && scales)
    report.notes.emplace_back(
        "There is nothing to replay: no device activity is recorded. Record with ProfilerActivity.CUDA (or "
        "XPU, MTIA …) beside CPU.");
  if (devices > 1 && scales) note_ranks(trace, derived.job(), together, report);
  report.tables.push_back(std::move(checks.table));
  report.tables.push_back(std::move(changes.table));
  if (together) add_job(derived, asked, answers, report);
  return report;
}

}  // namespace stepscope::analyze
