#include "compare/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/median.h"
#include "compare/change.h"
#include "compare/comparable.h"
#include "compare/diff.h"

namespace stepscope::compare {
namespace {

using trace::Trace;

constexpr std::size_t kMinFiles = kMinSteps;
constexpr const char* kSameRecording = "BASE and NEW are the same recording; give two.";

/// One side's samples of a metric, from all its files.
std::vector<double> pooled(std::vector<std::vector<double>> files, bool by_file) {
  std::vector<double> out;
  for (std::vector<double>& file : files) {
    if (by_file)
      out.push_back(median_of(file));
    else
      out.insert(out.end(), file.begin(), file.end());
  }
  return out;
}

struct RunSet {
  const Runs& traces;
  std::vector<Recording> recordings;
  std::vector<Subject> subjects;
};

std::vector<CountedSteps> steps_of(const Runs& traces, const report::Params& params) {
  std::vector<CountedSteps> out;
  for (const Trace* trace : traces) out.push_back(counted_steps(*trace, analyze::StepChoice(params)));
  return out;
}

RunSet side_of(const Runs& traces, std::vector<CountedSteps> counted) {
  RunSet side{traces, {}, {}};
  for (std::size_t i = 0; i < traces.size(); ++i) {
    side.subjects.push_back(subject_of(*traces[i], counted[i]));
    side.recordings.push_back(recording_of(*traces[i], std::move(counted[i])));
  }
  return side;
}

Measured measure(const Limit& limit, const RunSet& base, const RunSet& now, unsigned threads) {
  Measured out;
  const bool by_file = std::min(base.traces.size(), now.traces.size()) >= kMinFiles;
  if (by_file) out.samples = Samples::runs;
  for (const RunSet* side : {&base, &now}) {
    std::vector<std::vector<double>> files;
    for (std::size_t i = 0; i < side->traces.size(); ++i) {
      MetricValues samples = samples_of(limit, *side->traces[i], side->recordings[i], threads);
      if (!samples.wrong.empty()) out.wrong = samples.wrong;
      if (!samples.missing.empty() && out.missing.empty())
        out.missing = fmt::format("{}: {}.", side == &base ? "BASE" : "NEW", samples.missing);
      if (samples.values.empty()) continue;
      out.unit = samples.unit;
      files.push_back(std::move(samples.values));
    }
    (side == &base ? out.base : out.now) = pooled(std::move(files), by_file);
  }
  return out;
}

void note_left_out(const RunSet& base, const RunSet& now, std::vector<std::string>& notes) {
  std::size_t skipped = 0;
  for (const RunSet* side : {&base, &now})
    for (const Recording& recording : side->recordings)
      skipped = std::max(skipped, recording.counted.warming_up);
  note_warm_up(skipped, notes);
  for (const RunSet* side : {&base, &now})
    for (std::size_t i = 0; i < side->recordings.size(); ++i) {
      const char* name = side == &base ? "BASE" : "NEW";
      note_pauses(side->traces.size() == 1 ? name : fmt::format("{}, run {}", name, i + 1),
                  side->recordings[i].counted, notes);
    }
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  return outcome == Outcome::pass ? "pass" : outcome == Outcome::regression ? "regression" : "inconclusive";
}

Outcome Gate::outcome() const {
  if (!not_comparable.empty() || checks.empty()) return Outcome::inconclusive;
  if (count(Outcome::regression) > 0) return Outcome::regression;
  return count(Outcome::inconclusive) > 0 ? Outcome::inconclusive : Outcome::pass;
}

std::size_t Gate::count(Outcome of) const {
  return static_cast<std::size_t>(
      std::count_if(checks.begin(), checks.end(), [&](const Check& check) { return check.outcome == of; }));
}

Gate gate(const Runs& base, const Runs& now, const std::vector<Limit>& limits, double allow_noise,
          const report::Params& params) {
  Gate out;
  const auto threads = static_cast<unsigned>(params.integer("threads"));
  std::vector<CountedSteps> steps_base = steps_of(base, params), steps_now = steps_of(now, params);
  std::vector<CountedSteps*> all;
  for (std::vector<CountedSteps>* side : {&steps_base, &steps_now})
    for (CountedSteps& counted : *side) all.push_back(&counted);
  leave_out_unsteady(all, params);
  const RunSet of_base = side_of(base, std::move(steps_base)), of_now = side_of(now, std::move(steps_now));
  std::set<std::string> said;
  for (std::size_t i = 0; i < base.size(); ++i)
    for (std::size_t j = 0; j < now.size(); ++j)
      if (same_recording(of_base.subjects[i], of_now.subjects[j]) && said.insert(kSameRecording).second)
        out.not_comparable.emplace_back(kSameRecording);
  for (std::size_t i = 0; i < base.size(); ++i)
    for (std::size_t j = 0; j < now.size(); ++j) {
      if (i != 0 && j != 0) continue;
      for (const std::string& why : not_comparable(of_base.subjects[i], of_now.subjects[j], "BASE", "NEW"))
        if (said.insert(why).second) out.not_comparable.push_back(why);
    }
  std::vector<Measured> measured;
  for (const Limit& limit : limits) {
    measured.push_back(measure(limit, of_base, of_now, threads));
    if (!measured.back().wrong.empty())
      out.wrong.push_back(fmt::format("--fail-on {}: {}", limit.text, measured.back().wrong));
  }
  out.checks = decide(limits, measured, allow_noise);
  if (!out.not_comparable.empty())
    for (Check& check : out.checks) check.outcome = Outcome::inconclusive;
  out.notes = out.not_comparable;
  note_left_out(of_base, of_now, out.notes);
  return out;
}

}  // namespace stepscope::compare
