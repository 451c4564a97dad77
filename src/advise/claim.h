// What a rule found: one cause, the change that ends it, and its cost by the rule's own estimate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/replay/scale.h"
#include "report/verdict.h"

namespace stepscope::advise {

using report::Category;
using report::Confidence;
using report::Proof;
using report::RuleId;

/// Effort of the remedy, smallest first; breaks ties in the ranking.
enum class Effort : std::uint8_t { option, one_line, code, hardware };

struct Claim {
  RuleId id{};
  std::string title;  ///< one sentence with its number
  std::int64_t rank = -1;
  std::int64_t saving_low = report::kNoInt,
               saving_high = report::kNoInt;  ///< estimate, ns per step; absent: a fact without a saving
  bool next = false;                          ///< does not limit now
  double least_after = 0;               ///< min saving of a `next` claim, as a share of the step by then
  std::vector<analyze::Scale> ideal;    ///< the change, for replay; empty: the saving is the estimate
  std::vector<analyze::Scale> mild;     ///< its weakest form; empty: `pessimism` × the saving of `ideal`
  std::vector<analyze::Scale> removed;  ///< the estimate is a part of these: a replay without them caps it
  double pessimism = 1;
  std::int64_t claimed = 0;   ///< ns per step: idle time that the change ends, if it also shortens kernels
  std::int64_t leftover = 0;  ///< idle time per step that more specific causes may claim first, ns
  std::int64_t seen = 0;  ///< steps in which the cause was seen, if not in all; gives the error of the count
  double typical = 1;     ///< weight in the order; less if the usual step does not have the cause
  bool shortens_kernels = false;  ///< the change makes compute kernels shorter
  Confidence confidence = Confidence::low;
  std::string because;              ///< the reason for this confidence
  std::vector<std::string> doubts;  ///< what lowered the confidence afterwards
  std::vector<Proof> evidence;
  report::Moment at;   ///< the longest instance, if the rule knows it
  std::string remedy;  ///< the concrete API and option
  std::string verify;  ///< what must be different afterwards
  Effort effort = Effort::option;
  std::string line;            ///< LineNode::line, where another rule may blame that line for the same cost
  bool ends_run = false;       ///< the program will fail: stands before all that costs time
  bool general = false;        ///< says where the work is, not what is wrong with it
  bool vague = false;          ///< names no line: a claim of the same cost that names one explains it
  bool of_files = false;       ///< most of its cost is in calls that read or write files
  std::vector<RuleId> within;  ///< rules whose claims became its evidence
};

constexpr Confidence lowered(Confidence confidence) {
  return confidence == Confidence::high ? Confidence::medium : Confidence::low;
}

}  // namespace stepscope::advise
