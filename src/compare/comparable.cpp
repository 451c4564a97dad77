#include "compare/comparable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analyze/analyses.h"
#include "report/page.h"
#include "report/units.h"

namespace stepscope::compare {
namespace {

using trace::Kind;
using trace::Rank;
using trace::Trace;
using Sentences = std::vector<std::string>;

constexpr double kSameWork = 0.01;

/// What the sides are called.
struct Names {
  const std::string &a, &b;
};

std::int64_t world_size(const Trace& trace) {
  std::int64_t size = -1;
  for (const Rank& rank : trace.ranks) size = std::max(size, rank.world_size);
  return size;
}

std::string count_of(std::int64_t size) {
  return size < 0 ? "a number that it does not say" : std::to_string(size);
}

bool any_communication(const Trace& trace) {
  return std::any_of(trace.ranks.begin(), trace.ranks.end(), [](const Rank& rank) {
    return std::find(rank.events.work.begin(), rank.events.work.end(), trace::Work::communication) !=
           rank.events.work.end();
  });
}

std::string device_names(const Trace& trace) {
  std::set<std::string> names;
  for (const Rank& rank : trace.ranks)
    for (const trace::Device& device : rank.devices)
      if (!device.name.empty()) names.insert(device.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool any_of_kind(const Trace& trace, Kind kind) {
  return std::any_of(trace.ranks.begin(), trace.ranks.end(), [&](const Rank& rank) {
    return std::find(rank.events.kind.begin(), rank.events.kind.end(), kind) != rank.events.kind.end();
  });
}

bool has_shapes(const Trace& trace) {
  for (const Rank& rank : trace.ranks) {
    const trace::ArgReader dims(trace, rank, "Input Dims");
    for (trace::Row row = 0; row < rank.events.size(); ++row)
      if (dims.has(row)) return true;
  }
  return false;
}

/// How often a row of an analysis came, and how much work it did.
struct WorkPerStep {
  double calls = 0, amount = 0;
};

/// The first table of an analysis over the counted steps, per step, by its names.
std::map<std::string, WorkPerStep> work_per_step(const Trace& trace, const CountedSteps& counted,
                                                 const char* analysis, const char* calls,
                                                 const char* amount) {
  std::map<std::string, WorkPerStep> out;
  if (counted.steps.empty()) return out;
  report::Params params;
  if (counted.marked)
    params.set("step", fmt::format("{}-{}", counted.steps.front().number, counted.steps.back().number));
  const report::Report report = analyze::run(*analyze::find(analysis), trace, params);
  if (report.tables.empty()) return out;
  const report::Table& table = report.tables.front();
  const report::Column *count = table.column(calls), *sum = table.column(amount);
  if (count == nullptr || sum == nullptr) return out;
  const auto steps = static_cast<double>(counted.steps.size());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    WorkPerStep& work = out[report::field(table, "name", row) + '\n' + report::field(table, "op", row)];
    work.calls += report::number_at(*count, row) / steps;
    work.amount += report::number_at(*sum, row) / steps;
  }
  return out;
}

bool nearly(double a, double b) { return std::abs(b - a) <= kSameWork * a; }

void compare_job(const Trace& a, const Trace& b, const Names& names, Sentences& out) {
  if (a.ranks.size() != b.ranks.size())
    out.push_back(fmt::format("{} is {} of a job, {} {}.", names.a,
                              a.ranks.size() == 1 ? "one rank" : fmt::format("{} ranks", a.ranks.size()),
                              names.b,
                              b.ranks.size() == 1 ? "one rank" : fmt::format("{} ranks", b.ranks.size())));
  else if (world_size(a) != world_size(b))
    out.push_back(fmt::format("{} ran on {} ranks, {} on {}.", names.a, count_of(world_size(a)), names.b,
                              count_of(world_size(b))));
  if (any_communication(a) != any_communication(b))
    out.push_back(fmt::format("Only {} has collectives.", any_communication(a) ? names.a : names.b));
  const std::string on_a = device_names(a), on_b = device_names(b);
  if (on_a != on_b)
    out.push_back(fmt::format("{} ran on {}, {} on {}.", names.a,
                              on_a.empty() ? "a device that it does not name" : on_a, names.b,
                              on_b.empty() ? "a device that it does not name" : on_b));
}

void compare_options(const Trace& a, const Trace& b, const Names& names, Sentences& out) {
  const auto differ = [&](bool on_a, bool on_b, const char* option, const char* what) {
    if (on_a != on_b)
      out.push_back(fmt::format("Only {} records {} ({}), which takes time itself.", on_a ? names.a : names.b,
                                what, option));
  };
  differ(any_of_kind(a, Kind::python), any_of_kind(b, Kind::python), "with_stack", "Python calls");
  differ(any_of_kind(a, Kind::memory), any_of_kind(b, Kind::memory), "profile_memory", "memory");
  differ(has_shapes(a), has_shapes(b), "record_shapes", "shapes");
}

/// What comes as often on both sides should do the same; what comes more or less often is the program's
/// change.
void compare_work(const Trace& a, const Trace& b, const Pair& recordings, const Names& names,
                  Sentences& out) {
  struct Question {
    const char *analysis, *calls, *amount, *words;
    report::Unit unit;
  };
  constexpr Question kQuestions[] = {
      {"operators", "calls", "flops", "Operators that are called as often", report::Unit::flop},
      {"copies", "count", "bytes", "Copies that are made as often", report::Unit::bytes}};
  for (const Question& q : kQuestions) {
    const auto on_a = work_per_step(a, recordings.a.counted, q.analysis, q.calls, q.amount),
               on_b = work_per_step(b, recordings.b.counted, q.analysis, q.calls, q.amount);
    WorkPerStep of_a, of_b;
    for (const auto& [name, work] : on_a) {
      const auto same = on_b.find(name);
      if (same == on_b.end() || !nearly(work.calls, same->second.calls)) continue;
      if (work.amount <= 0 || same->second.amount <= 0) continue;
      of_a.amount += work.amount;
      of_b.amount += same->second.amount;
    }
    if (nearly(of_a.amount, of_b.amount)) continue;
    out.push_back(fmt::format("{} do {} a step in {}, {} in {}: other shapes, types or batches.", q.words,
                              report::format_value(of_a.amount, q.unit), names.a,
                              report::format_value(of_b.amount, q.unit), names.b));
  }
}

void note_only_critical(const Trace& trace, const std::string& side, Sentences& out) {
  for (const Rank& rank : trace.ranks)
    if (rank.reading.only_critical) {
      out.push_back(fmt::format(
          "{} is a copy that holds only a critical path ({}); compare the recording that it was made from.",
          side, rank.path));
      return;
    }
}

void note_damage(const Trace& trace, const std::string& side, Sentences& out) {
  for (const Rank& rank : trace.ranks)
    if (!rank.reading.complete || rank.reading.losses > 0) {
      out.push_back(fmt::format("{} is damaged ({}); `stepscope validate` says where.", side, rank.path));
      return;
    }
}

}  // namespace

Sentences not_comparable(const Trace& a, const Trace& b, const Pair& recordings, const std::string& name_a,
                         const std::string& name_b) {
  const Names names{name_a, name_b};
  Sentences out;
  if (recordings.a.counted.marked != recordings.b.counted.marked)
    out.push_back(fmt::format("Only {} has step marks, so a step of it is no step of the other.",
                              recordings.a.counted.marked ? name_a : name_b));
  compare_job(a, b, names, out);
  compare_options(a, b, names, out);
  compare_work(a, b, recordings, names, out);
  note_only_critical(a, name_a, out);
  note_only_critical(b, name_b, out);
  note_damage(a, name_a, out);
  note_damage(b, name_b, out);
  return out;
}

}  // namespace stepscope::compare
