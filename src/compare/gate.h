// Whether NEW may replace BASE: limits on metrics, decided with the noise of both sides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/change.h"
#include "compare/metric.h"
#include "report/params.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::compare {

enum class Outcome : std::uint8_t { pass, regression, inconclusive };
/// "pass", "regression", "inconclusive".
std::string_view name_of(Outcome outcome);

/// Samples of one metric on both sides.
struct Measured {
  std::vector<double> base, now;
  std::string missing;  ///< why one side has no samples, a sentence
  report::Unit unit = report::Unit::ns;
  std::string wrong = {};  ///< why the limit can never have samples
  Samples samples = Samples::steps;
};

/// One limit, decided.
struct Check {
  Limit limit;
  Outcome outcome = Outcome::inconclusive;
  std::string reason;  ///< a sentence: what was decided and what to do
  report::Unit unit = report::Unit::ns;
  double base = 0, now = 0;              ///< means
  double change = 0, low = 0, high = 0;  ///< relative, or the level itself; not finite if not known
  double p = 1, corrected = 1;           ///< of "exactly at the limit": alone, and corrected (Holm)
  std::size_t samples_base = 0, samples_now = 0;
  std::string_view samples_are = "steps";
  MeanChange means;
  // For people.
  std::string limit_text() const;
  std::string base_text() const;  ///< "" without samples
  std::string now_text() const;
  double growth() const;  ///< of the means, a share; kNoReal if not known
};

/// Decides all limits together. A regression needs an interval beyond its limit and a p-value under 5 % after
/// correction for the number of limits: each limit is one more chance to fail by accident. A pass needs no
/// correction, since all have to pass. `allow_noise`: how far an undecided interval may reach beyond the
/// limit and still pass, a share (of absolute limits: of the limit).
std::vector<Check> decide(const std::vector<Limit>& limits, const std::vector<Measured>& measured,
                          double allow_noise);

/// A metric over a history of recordings.
struct Trend {
  struct Point {
    std::string run, date;
    double value;  ///< median of its steps
  };
  std::string metric;
  report::Unit unit;
  std::vector<Point> points;
  std::vector<std::size_t> changes;  ///< points at which a new mean begins
  double mean(std::size_t begin, std::size_t end) const;
};

struct Gate {
  std::vector<Check> checks;
  std::vector<Trend> trends;       ///< by limit; empty without a history
  std::vector<std::string> wrong;  ///< errors in limits, a sentence each; if any, the checks are void
  std::vector<std::string> not_comparable;  ///< sentences; if any, the outcome is inconclusive
  std::vector<std::string> notes;           ///< `not_comparable` first
  Outcome outcome() const;
  std::size_t count(Outcome outcome) const;  ///< checks with this outcome
};

/// The recordings of one side, at least one.
using Runs = std::vector<const trace::Trace*>;

/// With at least four files per side, a sample is the median of one file, since runs differ more than the
/// steps of one run. With fewer files, each step is a sample. `params`:
/// step, skip, threads.
Gate gate(const Runs& base, const Runs& now, const std::vector<Limit>& limits, double allow_noise,
          const report::Params& params);

/// "Pass: step.total …".
std::string headline(const Gate& gate);

/// The headline with its outcome, and the checks. `for_programs`: with the columns that only programs read.
report::Report as_report(const Gate& gate, bool for_programs);

}  // namespace stepscope::compare
