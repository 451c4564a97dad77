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
/// Of "i01" that of I01.
std::optional<ExplainedId> id_of(std::string_view typed);

/// What is known of an id without a recording.
struct Entry {
  ExplainedId id;
  std::string_view category, one_line, doc;
  std::vector<Constant> constants;  ///< that `doc` names
};
Entry entry_of(const ExplainedId& id);

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
std::vector<Explained> explain(const ExplainedId& id, const analyze::Derived& derived, const Reports& reports,
                               unsigned threads = 0);

/// The rule, its constants and, of `explained`, outcome, inputs, numbers and confidence.
report::Report explanation(const Entry& entry, const std::vector<Explained>& explained);
/// What stands below the sentences: inputs, numbers and constants, as texts.
report::Report numbers_for_people(const Entry& entry, const std::vector<Explained>& explained);

}  // namespace stepscope::advise
