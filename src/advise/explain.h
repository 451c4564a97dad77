// Why a rule or a health row fired or stayed silent: what it read, and every number on the way to its saving.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "advise/rules/constants.h"
#include "advise/verdict.h"
#include "analyze/derived.h"
#include "report/table.h"

namespace stepscope::advise {

/// A rule or a health row.
using ExplainedId = std::variant<RuleId, HealthId>;
std::string_view name_of(const ExplainedId& id);

/// Every id that can be explained: of rules, then of health rows.
std::vector<ExplainedId> explainable_ids();
std::vector<std::string> explainable_names();
/// The id that was typed, in either case: "i01" is I01.
std::optional<ExplainedId> id_of(std::string_view typed);

/// The facts about an id that need no recording.
struct Entry {
  ExplainedId id;
  std::string_view category, one_line, doc;
  std::vector<Constant> constants;  ///< named in `doc`
};
Entry entry_of(const ExplainedId& id);

/// One rank's part of an explanation. Times are ns per step.
struct Explained {
  std::int64_t rank = -1;
  std::string outcome;               ///< fires, small, silent or not asked
  std::string sentence;              ///< the outcome in words
  std::vector<Asked> inputs;         ///< what it read, in order
  std::vector<Asked> numbers;        ///< all numbers from the replay to the range
  std::string confidence;            ///< high, medium, low; "" when it did not fire
  std::vector<std::string> because;  ///< what the confidence began with and what lowered it
};
std::vector<Explained> explain(const ExplainedId& id, const analyze::Derived& derived, const Reports& reports,
                               unsigned threads = 0);

/// Tables: the rule and its constants; from `explained`, outcome, inputs, numbers and confidence.
report::Report explanation(const Entry& entry, const std::vector<Explained>& explained);
/// Tables below the sentences: inputs, numbers and constants, as texts.
report::Report numbers_for_people(const Entry& entry, const std::vector<Explained>& explained);

}  // namespace stepscope::advise
