// Every analysis there is, in one visible array. CLI, HTTP, Python, the web menu and docs/analyses.md all
// read it.
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

/// What an analysis needs to have of several ranks at a time.
enum class Needs : std::uint8_t {
  one_rank,  ///< it looks at one rank after the other: its rows can be put together
  digests,   ///< of every rank, and no events
  all_ranks  ///< with their events
};

/// The question of a user that an analysis helps to answer. The list, the docs and completion are grouped by
/// it.
enum class Topic : std::uint8_t { change, step, idle, device, code, ranks, memory, recording };

struct TopicTitle {
  Topic topic;
  std::string_view question;
};

inline constexpr TopicTitle kTopics[] = {
    {Topic::change, "What should I change?"},    {Topic::step, "Where does a step's time go?"},
    {Topic::idle, "Why does the device wait?"},  {Topic::device, "What does the device do?"},
    {Topic::code, "Which code costs the time?"}, {Topic::ranks, "Which rank holds the others up?"},
    {Topic::memory, "What fills the memory?"},   {Topic::recording, "What is in the recording?"},
};

/// What an analysis says of itself, beside its code.
struct About {
  std::span<const report::ParamSpec> params = {};  ///< its own; report::common_params() come on top
  bool in_report = true;                           ///< false: too long for a page that shows everything
  Needs needs = Needs::one_rank;
};

enum class Tool : std::uint8_t { tensorboard_plugin, hta };
/// The flag that asks for a tool's numbers.
const report::ParamSpec& flag_of(Tool tool);

/// How another tool answers a question, its defects included.
struct Form {
  Tool tool;
  std::string_view name;
  std::span<const report::ParamSpec> params;  ///< its own
  report::Report (*run)(const Derived&, const report::Params&);
};

struct Analysis : About {
  const About* about;  ///< its own, which tells it from others
  Topic topic;
  std::string_view name;      ///< as typed by people, snake_case
  std::string_view one_line;  ///< what it answers
  std::string_view
      doc;  ///< NAME.md beside its code: each column's unit, numerator, denominator, what is excluded
  report::Report (*run)(const Derived&, const report::Params&);
  std::vector<Form> forms;  ///< `params` hold their flags, and their params too
};

std::span<const Analysis> all();
const Analysis& analysis_of(const About& about);

/// The tool whose numbers `params` ask for, of those that `analysis` has.
std::optional<Tool> tool_asked(const Analysis& analysis, const report::Params& params);

/// False for the analysis that needs the id of an event.
bool answers_alone(const Analysis& analysis);

/// nullptr if there is none of that name.
const Analysis* find(std::string_view name);

/// A sentence when `--step` names a step that no rank has, else "".
std::string absent_step(const trace::Trace& trace, const report::Params& params);

/// Applies the common params (sort, top) to what the analysis said of `trace`. The analysis itself handles
/// `step`.
void finish(const Analysis& analysis, const trace::Trace& trace, const report::Params& params,
            report::Report& report);

/// Runs and finishes; the forms of a tool whose flag is set, else our own.
report::Report run(const Analysis& analysis, const trace::Trace& trace, const report::Params& params);
/// The same; what other analyses that were asked with `derived` have derived is not derived again.
report::Report run(const Analysis& analysis, const Derived& derived, const report::Params& params);
/// One form of it alone.
report::Report run(const Analysis& analysis, const Form& form, const Derived& derived,
                   const report::Params& params);

}  // namespace stepscope::analyze
