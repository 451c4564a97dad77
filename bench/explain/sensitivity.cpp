// What half and double of each constant of the advice change, on recordings whose truth is known.
//
//   advice_sensitivity MANIFEST
//
// Each line of the manifest is a recording: "faulty" or "healthy", the rules of its cause with commas, the
// measured saving in ns per step, and its path, with tabs between. Prints JSON: for the constants as they
// are, and for each one halved and doubled, the faulty recordings whose first finding names another rule,
// those whose saving the range of that finding misses, and the healthy ones with a notable finding of the
// rules.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "advise/rules/constants.h"
#include "advise/verdict.h"
#include "analyze/derived.h"
#include "base/parallel.h"
#include "read/open.h"
#include "report/ids.h"

namespace {

using namespace stepscope;

constexpr double kNotable = 0.01;  // of the step, as in bench/explain/answers.py

struct Variable {
  std::string_view name;
  void (*scale)(double factor);  // times the value that it was defined with
};

#define STEPSCOPE_VARY(type, name, value, meaning, source) \
  {#name, [](double factor) { advise::name = static_cast<type>(static_cast<double>(value) * factor); }},
const Variable kVariables[] = {STEPSCOPE_ADVICE_CONSTANTS(STEPSCOPE_VARY)};
#undef STEPSCOPE_VARY

struct Recording {
  bool faulty = false;
  std::string rules;  // with commas around each
  double saving = 0;
  std::string path;
  std::unique_ptr<trace::Trace> trace;
  std::unique_ptr<analyze::Derived> derived;
  advise::Reports reports;
};

struct Faults {
  bool another = false, missed = false, alarm = false;
};

Faults faults_of(const Recording& recording) {
  const report::Verdict verdict = advise::verdict(*recording.derived, recording.reports, 1);
  const double step = verdict.ranks.empty() ? 1 : std::max(1.0, static_cast<double>(verdict.ranks[0].step));
  const auto is_of_cause = [&](const report::Finding& f) {
    return recording.rules.find("," + std::string(report::name_of(f.id)) + ",") != std::string::npos;
  };
  Faults faults;
  if (!recording.faulty) {
    for (const report::Finding& f : verdict.findings)
      faults.alarm = faults.alarm || (is_of_cause(f) && f.when == report::When::now && f.saving.known() &&
                                      static_cast<double>(f.saving.low) >= kNotable * step);
    return faults;
  }
  faults.another = verdict.findings.empty() || !is_of_cause(verdict.findings[0]);
  if (!faults.another) {
    const report::Range& range = verdict.findings[0].saving;
    faults.missed = !range.known() || recording.saving < static_cast<double>(range.low) ||
                    recording.saving > static_cast<double>(range.high);
  }
  return faults;
}

struct Sums {
  int another = 0, missed = 0, alarms = 0;
};

Sums sums_of(const std::vector<Recording>& recordings) {
  std::vector<Faults> all(recordings.size());
  parallel_for(recordings.size(), thread_count(0), [&](std::size_t i) { all[i] = faults_of(recordings[i]); });
  Sums sums;
  for (const Faults& of : all) {
    sums.another += of.another;
    sums.missed += of.missed;
    sums.alarms += of.alarm;
  }
  return sums;
}

void print(const char* key, const Sums& sums) {
  std::printf("\"%s\": {\"another\": %d, \"missed\": %d, \"alarms\": %d}", key, sums.another, sums.missed,
              sums.alarms);
}

bool opened(Recording& recording) {
  static const report::Params params;
  const std::string paths[] = {recording.path};
  auto trace = read::open(paths);
  if (!trace) return false;
  recording.trace = std::make_unique<trace::Trace>(std::move(*trace));
  recording.derived = std::make_unique<analyze::Derived>(*recording.trace, params);
  recording.reports = advise::gather(*recording.derived);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::ifstream manifest(argc == 2 ? argv[1] : "");
  std::vector<Recording> recordings;
  int faulty = 0;
  for (std::string line; std::getline(manifest, line);) {
    std::istringstream words(line);
    std::string kind, rules, saving;
    Recording recording;
    std::getline(words, kind, '\t');
    std::getline(words, rules, '\t');
    std::getline(words, saving, '\t');
    std::getline(words, recording.path);
    recording.faulty = kind == "faulty";
    recording.rules = "," + rules + ",";
    recording.saving = std::strtod(saving.c_str(), nullptr);
    if (!opened(recording)) {
      std::fprintf(stderr, "advice_sensitivity: %s could not be read\n", recording.path.c_str());
      return 1;
    }
    faulty += recording.faulty;
    recordings.push_back(std::move(recording));
  }
  if (recordings.empty()) {
    std::fprintf(stderr, "advice_sensitivity: give a manifest of recordings\n");
    return 1;
  }
  std::printf("{\"faulty\": %d, \"healthy\": %zu, ", faulty,
              recordings.size() - static_cast<std::size_t>(faulty));
  print("as_is", sums_of(recordings));
  std::printf(", \"constants\": [");
  const char* between = "\n";
  for (const Variable& variable : kVariables) {
    std::printf("%s{\"name\": \"%s\", ", between, std::string(variable.name).c_str());
    variable.scale(0.5);
    print("half", sums_of(recordings));
    std::printf(", ");
    variable.scale(2);
    print("double", sums_of(recordings));
    std::printf("}");
    variable.scale(1);
    between = ",\n";
    std::fflush(stdout);
  }
  std::printf("]}\n");
  return 0;
}
