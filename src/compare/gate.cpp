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

std::size_t fewest_of(const std::vector<CountedSteps>& files) {
  std::size_t fewest = files.front().steps.size();
  for (const CountedSteps& file : files) fewest = std::min(fewest, file.steps.size());
  return fewest;
}

RunSet side_of(const Runs& traces, std::vector<CountedSteps> counted, std::size_t skip) {
  RunSet side{traces, {}, {}};
  for (std::size_t i = 0; i < traces.size(); ++i) {
    leave_out_first(counted[i], skip);
    side.subjects.push_back(subject_of(*traces[i], counted[i]));
    side.recordings.push_back(recording_of(*traces[i], std::move(counted[i])));
  }
  return side;
}

Measured measure(const Limit& limit, const RunSet& base, const RunSet& now, unsigned threads) {
  Measured out;
  const bool by_file = std::min(base.traces.size(), now.traces.size()) >= kMinFiles;
  for (const RunSet* side : {&base, &now}) {
    std::vector<std::vector<double>> files;
    for (std::size_t i = 0; i < side->traces.size(); ++i) {
      Samples samples = samples_of(limit, *side->traces[i], side->recordings[i], threads);
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

std::size_t most_skipped(const RunSet& base, const RunSet& now) {
  std::size_t skipped = 0;
  for (const RunSet* side : {&base, &now})
    for (const Recording& recording : side->recordings)
      skipped = std::max(skipped, recording.counted.warming_up);
  return skipped;
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
  const std::size_t skip = warm_up(std::min(fewest_of(steps_base), fewest_of(steps_now)), params);
  const RunSet of_base = side_of(base, std::move(steps_base), skip),
               of_now = side_of(now, std::move(steps_now), skip);
  std::set<std::string> said;
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
  note_warm_up(most_skipped(of_base, of_now), out.notes);
  return out;
}

}  // namespace stepscope::compare
