// Who owned each nanosecond of each device, and who waited for whom.
#include "derive/idle/ledger.h"

#include <array>

#include "analyze/idle/bound_numbers.h"
#include "analyze/list.h"
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

struct OwnerTable {
  explicit OwnerTable(const trace::Trace& trace)
      : rank(table, trace),
        device(table.ints("device", Unit::none, Role::key)),
        owner(table.texts("owner")),
        cause(table.texts("cause")),
        time(table.ints("time", Unit::ns)),
        per_step(table.ints("per_step", Unit::ns)),
        share(table.reals("share", Unit::share, Role::share)),
        meaning(table.texts("meaning", Role::detail)) {}
  report::Table table{"Ledger", Shape::bars, {}};
  RankColumn rank;
  report::Ints& device;
  report::Texts &owner, &cause;
  report::Ints &time, &per_step;
  report::Reals& share;
  report::Texts& meaning;
};

struct NumberTable {
  explicit NumberTable(const trace::Trace& trace)
      : rank(table, trace),
        fact(table.texts("fact")),
        per_step(table.ints("per_step", Unit::ns)),
        share(table.reals("share", Unit::share, Role::share)) {}
  report::Table table{"Bound numbers", Shape::table, {}};
  RankColumn rank;
  report::Texts& fact;
  report::Ints& per_step;
  report::Reals& share;

  void add(const Rank& r, const char* name, std::int64_t value, double of_window) {
    rank.add(r);
    fact.emplace_back(name);
    per_step.push_back(value);
    share.push_back(of_window);
  }
};

struct WordTable {
  explicit WordTable(const trace::Trace& trace)
      : rank(table, trace),
        word(table.texts("bound", Role::value)),
        reason(table.texts("reason", Role::value)) {}
  report::Table table{"Bound", Shape::table, {}};
  RankColumn rank;
  report::Texts &word, &reason;
};

void add_owners(OwnerTable& out, const Rank& rank, const BoundNumbers& numbers, std::int64_t device,
                const Column<derive::Atom>& atoms) {
  std::array<std::int64_t, derive::kOwners> owned{};
  std::array<std::int64_t, derive::kIdleCauses> idle{};
  for (const derive::Atom& atom : atoms) {
    owned[static_cast<std::size_t>(atom.owner)] += atom.span.length();
    if (atom.owner == Owner::idle) idle[static_cast<std::size_t>(atom.cause)] += atom.span.length();
  }
  const auto add = [&](Owner owner, std::string_view cause, std::string_view meaning, std::int64_t time) {
    if (time == 0) return;
    out.rank.add(rank);
    out.device.push_back(device);
    out.owner.emplace_back(name_of(owner));
    out.cause.emplace_back(cause);
    out.time.push_back(time);
    out.per_step.push_back(report::mean(time, numbers.steps));
    out.share.push_back(numbers.share(time));
    out.meaning.emplace_back(meaning);
  };
  for (const Owner owner : {Owner::compute, Owner::communication, Owner::copy})
    add(owner, "", "", owned[static_cast<std::size_t>(owner)]);
  for (std::size_t cause = 0; cause < idle.size(); ++cause)
    add(Owner::idle, name_of(static_cast<IdleCause>(cause)), meaning_of(static_cast<IdleCause>(cause)),
        idle[cause]);
}

void add_numbers(NumberTable& out, const Rank& rank, const BoundNumbers& numbers) {
  const auto add = [&](const char* name, std::int64_t time) {
    out.add(rank, name, report::mean(time, numbers.steps), numbers.share(time));
  };
  out.add(rank, "step", numbers.step, report::kNoReal);
  add("idle", numbers.idle);
  add("late", numbers.late);
  add("latency", numbers.latency);
  add("blocked", numbers.blocked);
  add("exposed_communication", numbers.exposed_communication);
  out.add(rank, "lag_growth", numbers.lag_growth, report::kNoReal);
  out.add(rank, "prompt", kNoInt, numbers.prompt);
}

}  // namespace

constinit const About ledger_about = {};

report::Report ledger(const Derived& derived, const report::Params&) {
  const trace::Trace& trace = derived.trace();
  OwnerTable owners(trace);
  NumberTable numbers(trace);
  WordTable words(trace);
  report::Report report{"ledger", {}, {}};
  for (const Rank& rank : trace.ranks) {
    const auto& devices = derived.busy(rank);
    const auto atoms = derive::ledger(devices, derived.idle(rank), window_of(rank, derived.choice()));
    const BoundNumbers bound = bound_numbers(derived, rank, atoms);
    note_whole_gaps(report, derived, rank);
    for (std::size_t d = 0; d < devices.size(); ++d)
      add_owners(owners, rank, bound, devices[d].device, atoms[d]);
    if (!devices.empty()) add_numbers(numbers, rank, bound);
    const BoundWord word =
        devices.empty() ? BoundWord{"unknown", "no device work is recorded"} : bound_word(bound);
    words.rank.add(rank);
    words.word.emplace_back(word.word);
    words.reason.push_back(word.reason);
  }
  for (report::Table* table : {&words.table, &owners.table, &numbers.table})
    report.tables.push_back(std::move(*table));
  return report;
}

}  // namespace stepscope::analyze
