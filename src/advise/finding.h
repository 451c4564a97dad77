// A finding: one cause, what it costs per step as a range, how sure we are and why, what to change, how to
// check.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/replay/scale.h"
#include "report/table.h"

namespace stepscope::advise {

enum class Confidence : std::uint8_t { low, medium, high };
constexpr const char* name_of(Confidence c) {
  return c == Confidence::high ? "high" : c == Confidence::medium ? "medium" : "low";
}

/// What to do about a finding, from cheapest to dearest; breaks ties in the ranking.
enum class Effort : std::uint8_t { option, one_line, code, hardware };

struct Finding {
  std::string id;        ///< of its rule, e.g. "I01"
  std::string category;  ///< input, host, sync, copy, kernel, precision, communication, memory, graph
  std::string title;     ///< one sentence with its number
  std::int64_t rank = -1;
  std::int64_t saving_low = report::kNoInt,
               saving_high = report::kNoInt;  ///< ns per step; absent: a fact without a saving
  std::int64_t after_low = report::kNoInt,
               after_high = report::kNoInt;  ///< the same once the findings above are done; absent: not known
  bool next = false;                         ///< does not limit now
  bool covered = false;    ///< saves alone, and nothing more, or most of it, once those that limit are done
  double least_after = 0;  ///< share of the step as it is then: what a `next` one has to save
  bool small = false;      ///< not worth showing
  std::vector<analyze::Scale> ideal;  ///< the change, for replay; none: the saving is the rule's estimate
  std::vector<analyze::Scale> mild;   ///< its least form; none: `pessimism` times what the change saves
  std::vector<analyze::Scale>
      removed;  ///< of an estimate: what it is a part of, so that it is no more than the replay without
  double pessimism = 1;
  std::int64_t claimed = 0;   ///< idle time per step that the change ends, where it also shortens kernels, ns
  std::int64_t leftover = 0;  ///< idle time per step that more specific causes may claim first, ns
  std::int64_t others = 0;    ///< of that, what they do claim, ns
  std::int64_t alone_low = report::kNoInt, alone_high = report::kNoInt;  ///< the range before they claim it
  std::int64_t margin = 0;  ///< by which the range is wider as steps vary, ns
  std::int64_t seen = 0;    ///< steps in which it was seen, where that is not all of them: a rate by count
  bool shortens_kernels = false;  ///< the change makes compute kernels shorter
  Confidence confidence = Confidence::low;
  std::string aside;        ///< what a reader of the saving must know beside it, a clause or two
  bool unrecorded = false;  ///< the high end is of a host without what recording cost it
  std::string because;      ///< why this confidence
  std::string evidence;     ///< analysis, rows and time spans that show it
  std::string remedy;       ///< the concrete API and option
  std::string verify;       ///< what must be different afterwards
  Effort effort = Effort::option;
};

/// Capture health: A stops the families it names, B lowers confidence, C informs.
enum class HealthClass : char { A = 'A', B = 'B', C = 'C' };

struct Health {
  std::string id;  ///< e.g. "Q04"
  HealthClass grade = HealthClass::C;
  std::int64_t rank = -1;
  std::string what;     ///< a sentence with its number
  std::string suffers;  ///< which conclusions
  std::string remedy;   ///< the line to add
};

}  // namespace stepscope::advise
