// The array of all analyses. The CLI, Python and docs/analyses.md read it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/params.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::analyze {

class Derived;

/// How much of the ranks an analysis needs at a time.
enum class Needs : std::uint8_t {
  one_rank,  ///< one rank at a time: the rows of all ranks are concatenated
  digests,   ///< the digests of all ranks, without events
  all_ranks  ///< all ranks with their events
};

/// The user's question that an analysis helps to answer. It groups the list, the docs and completion.
enum class Topic : std::uint8_t { change, step, idle, device, code, ranks, memory, recording };

struct TopicTitle {
  Topic topic;
  std::string_view question;
};

inline constexpr TopicTitle kTopics[] = {
    {Topic::change, "What should I change?"},    {Topic::step, "Where does a step's time go?"},
    {Topic::idle, "Why does the device wait?"},  {Topic::device, "What does the device do?"},
    {Topic::code, "Which code costs the time?"}, {Topic::ranks, "Which rank delays the others?"},
    {Topic::memory, "What fills the memory?"},   {Topic::recording, "What is in the recording?"},
};

/// Properties of an analysis, defined beside its code.
struct About {
  std::span<const report::ParamSpec> params = {};  ///< its own params; report::common_params() apply too
  bool in_report = true;                           ///< false: too long for a page that shows everything
  Needs needs = Needs::one_rank;
};

enum class Tool : std::uint8_t { tensorboard_plugin, hta };
/// The flag that selects a tool's numbers.
const report::ParamSpec& flag_of(Tool tool);

/// How another tool answers a question, its defects included.
struct Form {
  Tool tool;
  std::string_view name;
  std::span<const report::ParamSpec> params;  ///< params of this form
  report::Report (*run)(const Derived&, const report::Params&);
};

struct Analysis : About {
  const About* about;  ///< its own About; the address identifies the analysis
  Topic topic;
  std::string_view name;      ///< as users type it, snake_case
  std::string_view one_line;  ///< what it answers
  std::string_view doc;       ///< NAME.md beside its code: units, formulas and exclusions of each column
  report::Report (*run)(const Derived&, const report::Params&);
  std::vector<Form> forms;  ///< `params` includes their flags and params
};

std::span<const Analysis> all();
const Analysis& analysis_of(const About& about);

/// The tool whose flag is set in `params`, if `analysis` has a form of that tool.
std::optional<Tool> tool_asked(const Analysis& analysis, const report::Params& params);

/// False for the analysis that needs the id of an event.
bool answers_alone(const Analysis& analysis);

/// nullptr if no analysis has this name.
const Analysis* find(std::string_view name);

/// A sentence when `--step` names a step that no rank has, else "".
std::string absent_step(const trace::Trace& trace, const report::Params& params);

/// Sets the report's question, notes an absent step, and applies the common params sort and top. The analysis
/// itself applies `step`.
void finish(const Analysis& analysis, const trace::Trace& trace, const report::Params& params,
            report::Report& report);

/// Runs and finishes: the forms of the tool whose flag is set, else our own analysis.
report::Report run(const Analysis& analysis, const trace::Trace& trace, const report::Params& params);
/// The same; reuses values that other analyses have already computed in `derived`.
report::Report run(const Analysis& analysis, const Derived& derived, const report::Params& params);
/// Runs and finishes a single form.
report::Report run(const Analysis& analysis, const Form& form, const Derived& derived,
                   const report::Params& params);

}  // namespace stepscope::analyze
