#include "analyze/idle/ledger.h"

#include <fmt/format.h>

#include <array>

#include "analyze/list.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::IdleCause;
using derive::Owner;
using report::kNoInt;
using report::Role;
using report::Shape;
using report::Unit;
using trace::Rank;

/// The chosen complete steps.
struct Window {
  std::int64_t steps, length;
};

void list_owners(std::vector<OwnedTime>& out, const Rank& rank, const Window& window, std::int64_t device,
                 const derive::OwnerTimes& of) {
  const auto add = [&](Owner owner, IdleCause cause, std::int64_t time) {
    if (time == 0) return;
    out.push_back({rank.rank, device, owner, cause, time, report::mean(time, window.steps),
                   window.length > 0 ? report::ratio(time, window.length) : 0});
  };
  for (const Owner owner : {Owner::compute, Owner::communication, Owner::copy})
    add(owner, IdleCause{}, of.owned[static_cast<std::size_t>(owner)]);
  for (std::size_t cause = 0; cause < of.idle.size(); ++cause)
    add(Owner::idle, static_cast<IdleCause>(cause), of.idle[cause]);
}

const report::Sheet<OwnedTime> kOwnerSheet{
    "Ledger",
    Shape::bars,
    {report::rank_field<OwnedTime>(&OwnedTime::rank),
     {"device", &OwnedTime::device, Unit::none, Role::key},
     {"owner", report::named<&OwnedTime::owner>},
     {"cause",
      +[](const OwnedTime& o) { return std::string(o.owner == Owner::idle ? name_of(o.cause) : ""); }},
     {"time", &OwnedTime::time, Unit::ns},
     {"per_step", &OwnedTime::per_step, Unit::ns},
     {"share", &OwnedTime::share, Unit::share, Role::share},
     {"meaning",
      +[](const OwnedTime& o) { return std::string(o.owner == Owner::idle ? meaning_of(o.cause) : ""); },
      Role::detail}}};

report::Table number_table(const std::vector<RankLimit>& ranks, bool several) {
  struct NumberRow {
    std::int64_t rank;
    std::string_view fact;
    std::int64_t per_step;
    double share;
  };
  static const report::Sheet<NumberRow> kNumbers{"Bound numbers",
                                                 Shape::table,
                                                 {report::rank_field<NumberRow>(&NumberRow::rank),
                                                  {"fact", &NumberRow::fact},
                                                  {"per_step", &NumberRow::per_step, Unit::ns},
                                                  {"share", &NumberRow::share, Unit::share, Role::share}}};
  std::vector<NumberRow> rows;
  for (const RankLimit& rank : ranks) {
    if (!rank.has_device) continue;
    const BoundNumbers& n = rank.numbers;
    const auto add = [&](std::string_view name, std::int64_t time) {
      rows.push_back({rank.rank, name, report::mean(time, n.steps), n.share(time)});
    };
    rows.push_back({rank.rank, "step", n.step, report::kNoReal});
    add("idle", n.idle);
    add("late", n.late);
    add("latency", n.latency);
    add("blocked", n.blocked);
    add("exposed_communication", n.exposed_communication);
    rows.push_back({rank.rank, "lag_growth", n.lag_growth, report::kNoReal});
    rows.push_back({rank.rank, "prompt", kNoInt, n.prompt});
  }
  return tabulate(kNumbers, rows, several);
}

/// Says which steps the bound leaves out.
void note_long_steps(std::vector<std::string>& notes, const Rank& rank, const TypicalSteps& typical) {
  if (typical.left_out.empty()) return;
  std::string numbers;
  for (const std::size_t step : typical.left_out)
    numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", rank.steps[step].number);
  notes.push_back(
      fmt::format("The bound{} and its numbers leave out {} {}, much longer than the other steps (`stepscope "
                  "show steps`).",
                  rank.rank >= 0 ? fmt::format(" of rank {}", rank.rank) : "",
                  typical.left_out.size() == 1 ? "step" : "steps", numbers));
}

const report::Sheet<RankLimit> kWordSheet{
    "Bound",
    Shape::table,
    {report::rank_field<RankLimit>(&RankLimit::rank),
     {"bound", +[](const RankLimit& r) { return std::string(name_of(r.word.limit)); }, Role::value},
     {"reason", +[](const RankLimit& r) { return r.word.reason; }, Role::value}}};

}  // namespace

Ledger ledger_of(const Derived& derived) {
  Ledger ledger;
  for (const Rank& rank : derived.trace().ranks) {
    const auto& devices = derived.busy(rank);
    const TypicalSteps typical = typical_steps(rank, derived.choice());
    const timeline::Interval window = window_of(rank, derived.choice());
    std::vector<derive::OwnerTimes> owners(devices.size()), owners_typical(devices.size());
    derive::for_each_atom(devices, derived.idle(rank), window, [&](std::size_t d, const derive::Atom& atom) {
      owners[d].add(atom, atom.span.length());
      owners_typical[d].add(atom, typical.spans.length_in(atom.span));
    });
    const BoundNumbers numbers = bound_numbers(derived, rank, typical, owners_typical);
    note_whole_gaps(ledger.notes, derived, rank);
    if (!devices.empty()) note_long_steps(ledger.notes, rank, typical);
    const auto left_out = static_cast<std::int64_t>(typical.left_out.size());
    for (std::size_t d = 0; d < devices.size(); ++d)
      list_owners(ledger.owned, rank, {numbers.steps + left_out, window.length()}, devices[d].device,
                  owners[d]);
    ledger.ranks.push_back(
        {rank.rank, !devices.empty(), numbers,
         devices.empty() ? BoundWord{Limit::unknown, "no device work is recorded"} : bound_word(numbers)});
  }
  return ledger;
}

constinit const About ledger_about = {};

report::Report ledger(const Derived& derived, const report::Params&) {
  const bool several = derived.trace().several();
  Ledger of = ledger_of(derived);
  return {"ledger",
          {tabulate(kWordSheet, of.ranks, several), tabulate(kOwnerSheet, of.owned, several),
           number_table(of.ranks, several)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
