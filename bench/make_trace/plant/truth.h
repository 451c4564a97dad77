// The truth file: what was planted, the parts of every step of every rank, the data of each collective, and
// the saving of each repair (from simulating the repaired job with the same seed).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "make_trace/file/text.h"
#include "make_trace/options.h"
#include "make_trace/plant/ledger.h"
#include "make_trace/run/job.h"

namespace stepscope::make_trace {

/// Step lengths of a whole job: in each step, that of its slowest rank.
class StepLengths {
 public:
  void add(const StepLedger& ledger);

  /// Median over the steps without the first (which starts on an idle device), in ns; 0 without steps.
  std::int64_t median() const;

  /// Mean over all steps, in ns; unlike the median, it counts costs that occur in some steps only.
  std::int64_t mean() const;

 private:
  std::vector<std::int64_t> slowest_;
};

/// Simulates the job.
StepLengths step_lengths_of(const Options& options);

class Truth {
 public:
  Truth(const Options& options, const Programs& programs);

  void begin(int rank, std::int64_t at);
  void meetings(int step, std::int64_t first_number, const std::vector<Meeting>& meetings);
  void step(int rank, const StepRows& rows);

  /// The JSON text; simulates the repaired jobs.
  std::string finish();

 private:
  void write_options(Text& out) const;
  void write_planted(Text& out) const;
  void write_clocks(Text& out) const;
  void write_savings(Text& out) const;

  const Options& o_;
  const Programs& programs_;
  std::vector<Ledger> ledgers_;
  std::vector<std::int64_t> window_starts_;
  std::vector<std::int64_t> last_starts_;  ///< last start of each of the step's collectives
  std::int64_t first_number_ = 0;
  StepLengths lengths_;
  Text steps_, collectives_, messages_;
};

}  // namespace stepscope::make_trace
