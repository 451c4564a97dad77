// What a rule saw: one cause, the change that ends it, and what it costs by the rule's own estimate.
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

/// What to do about a finding, from cheapest to dearest; breaks ties in the ranking.
enum class Effort : std::uint8_t { option, one_line, code, hardware };

struct Claim {
  RuleId id{};
  std::string title;  ///< one sentence with its number
  std::int64_t rank = -1;
  std::int64_t saving_low = report::kNoInt,
               saving_high = report::kNoInt;  ///< estimate, ns per step; absent: a fact without a saving
  bool next = false;                          ///< does not limit now
  double least_after = 0;             ///< share of the step as it is then: what a `next` one has to save
  std::vector<analyze::Scale> ideal;  ///< the change, for replay; none: the saving is the estimate
  std::vector<analyze::Scale> mild;   ///< its least form; none: `pessimism` times what the change saves
  std::vector<analyze::Scale>
      removed;  ///< what an estimate is a part of: it is no more than the replay without
  double pessimism = 1;
  std::int64_t claimed = 0;   ///< idle time per step that the change ends, where it also shortens kernels, ns
  std::int64_t leftover = 0;  ///< idle time per step that more specific causes may claim first, ns
  std::int64_t seen = 0;      ///< steps in which it was seen, where that is not all of them: a rate by count
  bool shortens_kernels = false;  ///< the change makes compute kernels shorter
  Confidence confidence = Confidence::low;
  std::string because;              ///< why this confidence
  std::vector<std::string> doubts;  ///< what has lowered it since
  std::vector<Proof> evidence;
  std::string remedy;  ///< the concrete API and option
  std::string verify;  ///< what must be different afterwards
  Effort effort = Effort::option;
  std::vector<RuleId> within;  ///< whose claims are told as its evidence
};

constexpr Confidence lowered(Confidence confidence) {
  return confidence == Confidence::high ? Confidence::medium : Confidence::low;
}

}  // namespace stepscope::advise
