// Why a rule or a health row fired or stayed silent: what it read, and every number on the way to its saving.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "advise/verdict.h"
#include "analyze/derived.h"
#include "report/table.h"

namespace stepscope::advise {

/// Every id that can be explained: of rules, then of health rows.
std::vector<std::string> explainable_ids();
/// "i01" as "I01".
std::string id_of(std::string_view typed);

/// What is known of an id without a recording.
struct Entry {
  std::string_view id, category, one_line, doc;
};
/// The id is one of `explainable_ids`.
Entry entry_of(std::string_view id);

/// One rank's part of an explanation. Times are ns per step.
struct Explained {
  std::int64_t rank = -1;
  std::string outcome;               ///< fires, small, silent or not asked
  std::string sentence;              ///< the same in words
  std::vector<Asked> inputs;         ///< what it read, in its order
  std::vector<Asked> numbers;        ///< from the replay to the range
  std::string confidence;            ///< high, medium, low; "" when it did not fire
  std::vector<std::string> because;  ///< what the confidence began with and what lowered it
};
std::vector<Explained> explain(std::string_view id, const analyze::Derived& derived, const Reports& reports,
                               unsigned threads = 0);

/// Tables "Rule", "Constants" (those that the rule's text names) and, of `explained`, "Outcome", "Inputs",
/// "Numbers" and "Confidence".
report::Report explanation(std::string_view id, const std::vector<Explained>& explained);

}  // namespace stepscope::advise
