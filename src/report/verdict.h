// The result of the advice on a job. `advise` fills it in; the page and its printers read it, and the tables
// "Verdict", "Findings" and "Health" print it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/ids.h"
#include "report/table.h"

namespace stepscope::report {

/// What limits a step, i.e. who waits for whom: this decides which savings are real.
enum class Bound : std::uint8_t {
  unknown,        ///< the recording cannot prove it
  too_little,     ///< under 20 device events or 1 ms of device work: not a training or inference step
  host_only,      ///< no device activity recorded
  host,           ///< the device waits for the host
  communication,  ///< the device waits for other ranks or links
  device,         ///< the device is the limit
  mixed,          ///< none of these alone
  memory,         ///< a memory snapshot alone: what fills the memory, not what takes time
  files,          ///< calls of the file system alone, without steps, operators and device work
};
std::string_view name_of(Bound bound);

/// The outcome of the advice on a rank.
enum class Outcome : std::uint8_t {
  findings,     ///< at least one saves 1 % of the step for certain, or 3 % at best
  nothing,      ///< nothing is wrong: the device is busy with compute, and no rule fires
  no_fix,       ///< something limits, but no rule has a change that is worth making
  cannot_tell,  ///< the recording cannot support a verdict
  no_step,      ///< not a training or inference step
};
std::string_view name_of(Outcome outcome);

/// When a finding counts.
enum class When : std::uint8_t {
  now,      ///< it limits now
  next,     ///< it limits once the findings above are done
  covered,  ///< it saves alone, but nothing after those above
  fact,     ///< no saving is known
  hidden,   ///< shown only when asked for: a `next` one that saves too little
  small,    ///< shown only when asked for: it saves too little
};
std::string_view name_of(When when);

enum class Confidence : std::uint8_t { low, medium, high };
std::string_view name_of(Confidence confidence);

/// Capture health: A stops the conclusions it names, B lowers confidence, C informs.
enum class HealthClass : char { A = 'A', B = 'B', C = 'C' };
std::string_view name_of(HealthClass grade);

/// A saving per step (per recording if no step is marked), ns.
struct Range {
  std::int64_t low = kNoInt, high = kNoInt;
  bool known() const { return high != kNoInt; }
};

/// A piece of evidence: the analysis that shows it, and what it shows.
struct Proof {
  std::string_view analysis;  ///< its name, which lives as long as the program; "" when none is named
  std::string what;
};
/// "idle: cause input, 62 ms".
std::string text_of(const Proof& proof);
/// The pieces, separated by semicolons.
std::string text_of(const std::vector<Proof>& proofs);

/// A stretch of a rank's recording: ns, `start` since the first event of its file.
struct Moment {
  std::int64_t start = kNoInt, length = 0;
  bool known() const { return start != kNoInt; }
};

/// One cause, what it costs, how sure that is, what to change and how to check.
struct Finding {
  RuleId id{};
  std::string title;  ///< one sentence with its number
  std::int64_t rank = -1;
  bool per_step = true;  ///< false: savings are of the whole recording, which has no step marks
  Range saving;          ///< alone; unknown: a fact without a saving
  Range after;           ///< once the findings above are done; may be unknown
  When when = When::now;
  std::string aside;  ///< what to know beside the saving, a clause or two
  Confidence confidence = Confidence::low;
  std::string because;  ///< why this confidence
  std::vector<Proof> evidence;
  Moment at;  ///< where the timeline shows it: the longest instance that is known, else a typical step
  std::string remedy;  ///< the concrete API and option
  std::string verify;  ///< what must be different afterwards
};

/// One thing that the recording of a rank lacks or that makes it doubtful.
struct Health {
  HealthId id{};
  HealthClass grade = HealthClass::C;
  std::int64_t rank = -1;
  std::string what;     ///< a sentence with its number
  std::string suffers;  ///< which conclusions
  std::string remedy;   ///< how to record better, or how to read this recording; may be ""
};

/// The verdict on one rank.
struct RankVerdict {
  std::int64_t rank = -1;  ///< negative: the file does not say
  Bound bound = Bound::unknown;
  Outcome outcome = Outcome::cannot_tell;
  std::string headline;              ///< one sentence that a person can act on
  std::int64_t step = kNoInt;        ///< mean length, ns
  std::int64_t steps = 0;            ///< complete steps in the window
  std::string found_by;              ///< what repeats in each step, where nothing marks steps; else ""
  std::int64_t saved_from = kNoInt;  ///< length of the step that savings are subtracted from, ns
  Range together;                    ///< of all findings that limit now, made together
  Proof evidence;                    ///< what shows the bound
};

struct Verdict {
  bool several = false;  ///< whether the job has several ranks
  std::vector<RankVerdict> ranks;
  std::vector<Finding> findings;  ///< of all ranks, in the order to be read
  std::vector<Health> health;
  std::vector<std::string> notes;
};

/// Tables "Verdict", "Findings" and "Health".
Report as_report(const Verdict& verdict);
/// Table "Findings"; its column "rank" is a finding's place, not a rank of the job.
Table findings_table(const Verdict& verdict);

}  // namespace stepscope::report
