// Of the stages of a pipeline: what of each step is bubble, beside what filling and draining must take.
#include "derive/ranks/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {
namespace {

using report::Ints;
using report::Reals;
using report::Role;
using report::Shape;
using report::Table;
using report::Unit;
using timeline::Time;

constexpr std::size_t kNamed = 8;

/// One step of a stage, or several.
struct Times {
  Time length = 0, compute = 0, messages = 0, idle = 0;
  std::int64_t steps = 0;
  double ideal = 0;  ///< shares, summed over the steps

  Time bubble() const { return messages + idle; }
  void add(const Times& step) {
    report::add_to(length, step.length);
    report::add_to(compute, step.compute);
    report::add_to(messages, step.messages);
    report::add_to(idle, step.idle);
    steps += step.steps;
    ideal += step.ideal;
  }
};

/// The columns that a step and the mean of several have in common.
class TimeColumns {
 public:
  explicit TimeColumns(Table& table)
      : length_(table.ints("length", Unit::ns)),
        compute_(table.ints("compute", Unit::ns)),
        other_(table.ints("other", Unit::ns, Role::detail)),
        bubble_(table.ints("bubble", Unit::ns)),
        messages_(table.ints("waiting", Unit::ns)),
        idle_(table.ints("idle", Unit::ns)),
        share_(table.reals("bubble_share", Unit::share, Role::share)),
        ideal_(table.reals("ideal_share", Unit::share)),
        excess_(table.ints("excess", Unit::ns)) {}
  void add(const Times& t) {
    const double ideal = t.ideal / static_cast<double>(std::max<std::int64_t>(1, t.steps));
    length_.push_back(report::mean(t.length, t.steps));
    compute_.push_back(report::mean(t.compute, t.steps));
    const Time rest = length_.back() - compute_.back();  // rounded means of parts may add up to more
    bubble_.push_back(std::min(report::mean(t.bubble(), t.steps), rest));
    other_.push_back(rest - bubble_.back());
    messages_.push_back(std::min(report::mean(t.messages, t.steps), bubble_.back()));
    idle_.push_back(bubble_.back() - messages_.back());
    share_.push_back(report::ratio(t.bubble(), t.length));
    ideal_.push_back(ideal);
    excess_.push_back(bubble_.back() - static_cast<Time>(ideal * static_cast<double>(length_.back())));
  }

 private:
  Ints &length_, &compute_, &other_, &bubble_, &messages_, &idle_;
  Reals &share_, &ideal_;
  Ints& excess_;
};

struct Tables {
  Table stages{"Stages", Shape::table, {}}, steps{"Steps of the stages", Shape::table, {}};
  Ints &rank = stages.ints("rank", Unit::none, Role::key),
       &pipeline = stages.ints("pipeline", Unit::none, Role::detail),
       &stage = stages.ints("stage", Unit::none, Role::key), &of = stages.ints("stages", Unit::count),
       &counted = stages.ints("steps", Unit::count),
       &micro_batches = stages.ints("micro_batches", Unit::count),
       &chunks = stages.ints("chunks", Unit::count, Role::detail);
  TimeColumns mean{stages};
  Ints &step_rank = steps.ints("rank", Unit::none, Role::key),
       &step = steps.ints("step", Unit::none, Role::key),
       &step_stage = steps.ints("stage", Unit::none, Role::key),
       &step_micro_batches = steps.ints("micro_batches", Unit::count);
  TimeColumns each{steps};
  Times all;
};

/// The rank's whole steps in which micro-batches passed.
void add_rank(Tables& out, const trace::Rank& rank, const derive::Stage& stage, const RankSteps& of) {
  Times sum;
  std::vector<std::int64_t> micro_batches, chunks;
  for (std::size_t k = 0; k < of.bubbles.size(); ++k) {
    const auto passes = stage.passes.find(of.numbers[k]);
    if (passes == stage.passes.end() || passes->second.micro_batches == 0) continue;
    const Times step{of.spans[k].length(),
                     of.parts[k][static_cast<std::size_t>(derive::StepPart::compute)],
                     of.bubbles[k].messages,
                     of.bubbles[k].idle,
                     1,
                     derive::ideal_bubble(stage.stages, passes->second)};
    out.step_rank.push_back(rank.rank);
    out.step.push_back(of.numbers[k]);
    out.step_stage.push_back(stage.number);
    out.step_micro_batches.push_back(passes->second.micro_batches);
    out.each.add(step);
    out.all.add(step);
    sum.add(step);
    micro_batches.push_back(passes->second.micro_batches);
    chunks.push_back(passes->second.chunks);
  }
  if (sum.steps == 0) return;
  out.rank.push_back(rank.rank);
  out.pipeline.push_back(stage.pipeline);
  out.stage.push_back(stage.number);
  out.of.push_back(stage.stages);
  out.counted.push_back(sum.steps);
  out.micro_batches.push_back(report::quantile(micro_batches, 0.5));
  out.chunks.push_back(report::quantile(chunks, 0.5));
  out.mean.add(sum);
}

/// "A pipeline of 4 stages: 46.2 % of their steps is bubble; …"
std::string sentence(const Tables& out, const std::vector<derive::Stage>& stages) {
  std::int32_t pipelines = 0;
  for (const derive::Stage& stage : stages) pipelines = std::max(pipelines, stage.pipeline + 1);
  const auto share = [](double value) { return report::format_value(value, Unit::share); };
  return fmt::format(
      "{} of {} stages: {} of their steps is bubble; with these micro-batches filling and draining takes {}.",
      pipelines == 1 ? "A pipeline" : fmt::format("{} pipelines", pipelines), out.of.front(),
      share(report::ratio(out.all.bubble(), out.all.length)),
      share(out.all.ideal / static_cast<double>(out.all.steps)));
}

/// "No step of stage 2 is here; the means are those of the other stages.", "" when all are.
std::string missing(const Tables& out, const std::vector<derive::Stage>& stages) {
  std::set<std::pair<std::int64_t, std::int64_t>> absent;  // pipeline, stage
  bool several = false;
  for (const derive::Stage& stage : stages)
    for (std::int64_t number = 0; stage.pipeline >= 0 && number < stage.stages; ++number) {
      absent.insert({stage.pipeline, number});
      several |= stage.pipeline > 0;
    }
  for (std::size_t row = 0; row < out.stage.size(); ++row) absent.erase({out.pipeline[row], out.stage[row]});
  std::string names;
  std::size_t named = 0;
  for (const auto& [pipeline, stage] : absent) {
    if (named++ == kNamed) break;
    names += (names.empty() ? "" : ", ") + std::to_string(stage) +
             (several ? fmt::format(" of pipeline {}", pipeline) : "");
  }
  if (names.empty()) return "";
  if (absent.size() > kNamed) names += fmt::format(" and {} more", absent.size() - kNamed);
  return fmt::format(
      "No whole step of stage{} {} is among these files; what is said is the mean of the others.",
      absent.size() == 1 ? "" : "s", names);
}

}  // namespace

constinit const About pipeline_about = {{}, true, Needs::digests};

report::Report pipeline(const Derived& derived, const report::Params&) {
  const trace::Trace& trace = derived.trace();
  report::Report report{"pipeline", {}, {}};
  Tables out;
  const std::vector<derive::Stage> stages =
      trace.ranks.size() < 2 ? std::vector<derive::Stage>{} : derive::stages_of(derived.collectives());
  for (std::size_t r = 0; r < stages.size(); ++r)
    if (stages[r].pipeline >= 0) add_rank(out, trace.ranks[r], stages[r], derived.steps(trace.ranks[r]));
  report.notes = trace.doubts;
  if (trace.ranks.size() < 2)
    report.notes.emplace_back("Only one rank is open: name several files, or the folder that holds them.");
  else if (out.step.empty())
    report.notes.emplace_back(
        "No pipeline found: no chain of ranks sends and receives in profiler steps, by what is recorded.");
  else
    report.notes.push_back(sentence(out, stages));
  if (std::string absent = out.step.empty() ? "" : missing(out, stages); !absent.empty())
    report.notes.push_back(std::move(absent));
  report.tables.push_back(std::move(out.stages));
  report.tables.push_back(std::move(out.steps));
  return report;
}

}  // namespace stepscope::analyze
