#include "compare/comparable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <set>

#include "analyze/host/operators.h"
#include "analyze/kernels/copies.h"
#include "base/key_hash.h"
#include "report/units.h"

namespace stepscope::compare {
namespace {

using trace::Kind;
using trace::Rank;
using trace::Trace;

constexpr double kSameWork = 0.01;

void add_work(Subject& of, const Trace& trace, const CountedSteps& counted) {
  if (counted.steps.empty()) return;
  report::Params params;
  if (counted.marked)
    params.set("step", fmt::format("{}-{}", counted.steps.front().number, counted.steps.back().number));
  const auto steps = static_cast<double>(counted.steps.size());
  const auto add = [&](Work& work, std::int64_t calls, double amount) {
    work.calls += static_cast<double>(calls) / steps;
    if (std::isfinite(amount)) work.amount += amount / steps;
  };
  const bool in_windows = std::any_of(trace.ranks.begin(), trace.ranks.end(),
                                      [](const Rank& rank) { return rank.shapes_cost > 0; });
  const analyze::Derived derived(trace, params);
  for (const analyze::Operator& op : analyze::operators_of(derived).operators)
    add(of.operators[std::string(op.name)], op.calls, in_windows ? 0 : op.flops);
  for (const analyze::OperatorCopies& copy : analyze::copies_of(derived).copies)
    add(of.copies[copy.name + '\n' + copy.op], copy.count, static_cast<double>(copy.bytes));
}

/// Hash of the names and times of all events; 0: there are none.
std::uint64_t hash_of_events(const Trace& trace) {
  HashSeed seed = process_hash_seed();
  const std::uint64_t start = seed.start;
  for (const Rank& rank : trace.ranks) {
    const trace::EventTable& events = rank.events;
    for (trace::Row row = 0; row < events.size(); ++row) {
      seed.start = hash_of(trace.name(rank, row), seed);
      seed.start = hash_of_all(seed, rank.base_ns + events.start[row], events.duration(row));
    }
  }
  return seed.start == start ? 0 : seed.start;
}

bool nearly(double a, double b) { return std::abs(b - a) <= kSameWork * a; }

/// Two subjects and their names.
struct Sides {
  const Subject &a, &b;
  const std::string &name_a, &name_b;
  std::vector<std::string> sentences;

  void job();
  void recorded(bool Subject::* what, const char* sentence);
  void work(WorkByName Subject::* what, const char* whose, report::Unit unit);
  void reading();
};

void Sides::job() {
  const auto ranks = [](const Subject& of) {
    return of.ranks == 1 ? "one rank" : fmt::format("{} ranks", of.ranks);
  };
  const auto size = [](const Subject& of) {
    if (of.world_size < 0) return std::string("an unknown number of ranks");
    return fmt::format("{} rank{}", of.world_size, of.world_size == 1 ? "" : "s");
  };
  if (a.ranks != b.ranks)
    sentences.push_back(fmt::format("{} has {} of a job, {} has {}.", name_a, ranks(a), name_b, ranks(b)));
  else if (a.world_size != b.world_size)
    sentences.push_back(fmt::format("{} ran on {}, {} on {}.", name_a, size(a), name_b, size(b)));
  recorded(&Subject::collectives, "Only {} has collectives.");
  const auto devices = [](const Subject& of) {
    return of.devices.empty() ? "an unnamed device" : of.devices;
  };
  if (a.devices != b.devices)
    sentences.push_back(fmt::format("{} ran on {}, {} on {}.", name_a, devices(a), name_b, devices(b)));
}

/// Adds `sentence`, filled with the name of the only side that has `what`.
void Sides::recorded(bool Subject::* what, const char* sentence) {
  if (a.*what != b.*what) sentences.push_back(fmt::format(fmt::runtime(sentence), a.*what ? name_a : name_b));
}

/// Compares the amount of work that is called equally often on both sides. A different number of calls is a
/// change of the program.
void Sides::work(WorkByName Subject::* what, const char* whose, report::Unit unit) {
  double of_a = 0, of_b = 0;
  for (const auto& [name, work] : a.*what) {
    const auto same = (b.*what).find(name);
    if (same == (b.*what).end() || !nearly(work.calls, same->second.calls)) continue;
    if (work.amount <= 0 || same->second.amount <= 0) continue;
    of_a += work.amount;
    of_b += same->second.amount;
  }
  if (!nearly(of_a, of_b))
    sentences.push_back(fmt::format(
        "{} equally often amount to {} per step in {}, {} in {}: shapes, types or batches differ.", whose,
        report::format_value(of_a, unit), name_a, report::format_value(of_b, unit), name_b));
}

void Sides::reading() {
  for (const auto& [of, name] : {std::pair{&a, &name_a}, {&b, &name_b}})
    if (!of->only_critical.empty())
      sentences.push_back(fmt::format(
          "{} is a copy with only a critical path ({}); compare the recording that it was made from.", *name,
          of->only_critical));
  for (const auto& [of, name] : {std::pair{&a, &name_a}, {&b, &name_b}})
    if (!of->damaged.empty())
      sentences.push_back(
          fmt::format("{} is damaged ({}); `stepscope validate` shows where.", *name, of->damaged));
}

}  // namespace

Subject subject_of(const Trace& trace, const CountedSteps& counted) {
  Subject of{trace.ranks.size(), counted.marked};
  of.events = hash_of_events(trace);
  std::set<std::string> devices;
  for (const Rank& rank : trace.ranks) {
    of.world_size = std::max(of.world_size, rank.world_size);
    for (const trace::Device& device : rank.devices)
      if (!device.name.empty()) devices.insert(device.name);
    const trace::ArgReader dims(trace, rank, "Input Dims");
    for (trace::Row row = 0; row < rank.events.size(); ++row) {
      of.collectives |= rank.events.work[row] == trace::Work::communication;
      of.python |= rank.events.kind[row] == Kind::python;
      of.memory |= rank.events.kind[row] == Kind::memory;
      of.shapes = of.shapes || dims.has(row);
    }
    if (of.only_critical.empty() && rank.reading.only_critical) of.only_critical = rank.path;
    const bool damaged = !rank.reading.complete || rank.reading.losses > 0;
    if (of.damaged.empty() && damaged) of.damaged = rank.path;
  }
  of.devices = fmt::format("{}", fmt::join(devices, ", "));
  add_work(of, trace, counted);
  return of;
}

std::vector<std::string> not_comparable(const Subject& a, const Subject& b, const std::string& name_a,
                                        const std::string& name_b) {
  Sides sides{a, b, name_a, name_b, {}};
  sides.recorded(&Subject::marked, "Only {} has step marks, so their steps cannot be compared.");
  sides.job();
  sides.recorded(&Subject::python, "Only {} records Python calls (with_stack), which takes time itself.");
  sides.recorded(&Subject::memory, "Only {} records memory (profile_memory), which takes time itself.");
  sides.recorded(&Subject::shapes, "Only {} records shapes (record_shapes), which takes time itself.");
  sides.work(&Subject::operators, "Operators called", report::Unit::flop);
  sides.work(&Subject::copies, "Copies made", report::Unit::bytes);
  sides.reading();
  return std::move(sides.sentences);
}

bool same_recording(const Subject& a, const Subject& b) { return a.events != 0 && a.events == b.events; }

}  // namespace stepscope::compare
