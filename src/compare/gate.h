// Whether NEW may follow BASE: limits on metrics, decided with the noise of both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
  std::string missing;  ///< why one side has none
  report::Unit unit = report::Unit::ns;
  std::string wrong = {};  ///< why the limit can have none
};

/// One limit, decided.
struct Check {
  Limit limit;
  Outcome outcome = Outcome::inconclusive;
  std::string reason;  ///< a sentence: what was decided and what to do
  report::Unit unit = report::Unit::ns;
  double base = 0, now = 0;              ///< medians
  double change = 0, low = 0, high = 0;  ///< relative, or the level; not finite when not known
  double p = 1, corrected = 1;           ///< of "exactly at the limit": alone, and among all limits (Holm)
  std::size_t samples_base = 0, samples_now = 0;
  // For people.
  std::string limit_text() const;
  std::string base_text() const;  ///< "" without samples
  std::string now_text() const;
  double growth() const;  ///< of the medians, a share; kNoReal where it is not known
};

/// The limits together. A regression needs an interval beyond its limit and, of several limits, a corrected
/// p-value under 5 %: each is one more chance to fail by accident. A pass needs no correction, since all have
/// to pass. `allow_noise`: a share (of absolute limits, of the limit) by which an undecided interval may
/// reach beyond.
std::vector<Check> decide(const std::vector<Limit>& limits, const std::vector<Measured>& measured,
                          double allow_noise);

struct Gate {
  std::vector<Check> checks;
  std::vector<std::string> wrong;  ///< limits that make no sense, a sentence each; any: nothing is decided
  std::vector<std::string> not_comparable;  ///< sentences; any: nothing is decided
  std::vector<std::string> notes;           ///< those sentences first
  Outcome outcome() const;
  std::size_t count(Outcome outcome) const;  ///< of checks
};

/// From four files a side on, a sample is the median of a file, since runs differ by more than steps of one
/// run do (three medians have no interval of 95 %); with fewer, every step is one. `params`: step, skip,
/// threads.
Gate gate(const std::vector<trace::Trace>& base, const std::vector<trace::Trace>& now,
          const std::vector<Limit>& limits, double allow_noise, const report::Params& params);

/// "Pass: step.total …".
std::string headline(const Gate& gate);

/// The headline with its outcome, and the checks, with the columns that are for programs or without.
report::Report as_report(const Gate& gate, bool for_programs);

}  // namespace stepscope::compare
