#include "analyze/ranks/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "analyze/list.h"
#include "derive/ranks/pipeline.h"
#include "report/sheet.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Shape;
using report::Tag;
using report::Unit;
using timeline::Time;

constexpr std::size_t kNamed = 8;

/// Sums over one or more steps of a stage.
struct Times {
  Time length = 0, compute = 0, messages = 0, idle = 0;
  std::int64_t steps = 0;
  double ideal = 0;  ///< ideal bubble shares, summed over the steps

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

StageTimes mean_of(const Times& t) {
  const double ideal = t.ideal / static_cast<double>(std::max<std::int64_t>(1, t.steps));
  const Time length = report::mean(t.length, t.steps), compute = report::mean(t.compute, t.steps),
             rest = length - compute;  // rounded means of the parts may add up to more
  const Time bubble = std::min(report::mean(t.bubble(), t.steps), rest),
             waiting = std::min(report::mean(t.messages, t.steps), bubble);
  return {length,
          compute,
          rest - bubble,
          bubble,
          waiting,
          bubble - waiting,
          report::ratio(t.bubble(), t.length),
          ideal,
          bubble - static_cast<Time>(ideal * static_cast<double>(length))};
}

/// Adds the rank's whole steps in which micro-batches passed, to `out` and to `all`.
void add_rank(Pipeline& out, Times& all, const trace::Rank& rank, const derive::Stage& stage,
              const RankSteps& of) {
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
    out.steps.push_back(
        {mean_of(step), rank.rank, of.numbers[k], stage.number, passes->second.micro_batches});
    all.add(step);
    sum.add(step);
    micro_batches.push_back(passes->second.micro_batches);
    chunks.push_back(passes->second.chunks);
  }
  if (sum.steps == 0) return;
  out.stages.push_back({mean_of(sum), rank.rank, stage.pipeline, stage.number, stage.stages, sum.steps,
                        report::quantile(micro_batches, 0.5), report::quantile(chunks, 0.5)});
}

/// The balance of each pipeline.
void add_balance(Pipeline& out) {
  std::map<std::int64_t, std::vector<const PipelineStage*>> pipelines;
  for (const PipelineStage& stage : out.stages) pipelines[stage.pipeline].push_back(&stage);
  for (const auto& [pipeline, stages] : pipelines) {
    std::vector<std::int64_t> work;
    for (const PipelineStage* stage : stages) work.push_back(stage->compute);
    const auto most = std::max_element(work.begin(), work.end());
    const PipelineStage& heaviest = *stages[static_cast<std::size_t>(most - work.begin())];
    const std::int64_t mean = std::accumulate(work.begin(), work.end(), std::int64_t{0}) / std::ssize(work);
    out.balance.push_back({pipeline, heaviest.rank, heaviest.stage, heaviest.stages, std::ssize(work), *most,
                           mean, report::ratio(*most - mean, mean),
                           derive::uneven_cost(work, {heaviest.micro_batches, heaviest.chunks})});
  }
}

/// "A pipeline of 4 stages: 46.2 % of step time is bubble; …"
std::string sentence(const Pipeline& out, const Times& all, const std::vector<derive::Stage>& stages) {
  std::int32_t pipelines = 0;
  for (const derive::Stage& stage : stages) pipelines = std::max(pipelines, stage.pipeline + 1);
  const auto share = [](double value) { return report::format_value(value, Unit::share); };
  return fmt::format(
      "{} of {} stages: {} of step time is bubble; with these micro-batches, filling and draining take {}.",
      pipelines == 1 ? "A pipeline" : fmt::format("{} pipelines", pipelines), out.stages.front().stages,
      share(report::ratio(all.bubble(), all.length)), share(all.ideal / static_cast<double>(all.steps)));
}

/// "No whole step of stage 2 is among these files; …", "" if no stage is missing.
std::string missing(const Pipeline& out, const std::vector<derive::Stage>& stages) {
  std::set<std::pair<std::int64_t, std::int64_t>> absent;  // pipeline, stage
  bool several = false;
  for (const derive::Stage& stage : stages)
    for (std::int64_t number = 0; stage.pipeline >= 0 && number < stage.stages; ++number) {
      absent.insert({stage.pipeline, number});
      several |= stage.pipeline > 0;
    }
  for (const PipelineStage& here : out.stages) absent.erase({here.pipeline, here.stage});
  std::string names;
  std::size_t named = 0;
  for (const auto& [pipeline, stage] : absent) {
    if (named++ == kNamed) break;
    names += (names.empty() ? "" : ", ") + std::to_string(stage) +
             (several ? fmt::format(" of pipeline {}", pipeline) : "");
  }
  if (names.empty()) return "";
  if (absent.size() > kNamed) names += fmt::format(" and {} more", absent.size() - kNamed);
  return fmt::format("No whole step of stage{} {} is among these files; the means are over the other stages.",
                     absent.size() == 1 ? "" : "s", names);
}

template <class Row>
report::Sheet<Row> with_times(report::Sheet<Row> sheet) {
  const report::Field<Row> times[] = {{"length", &Row::length, Unit::ns},
                                      {"compute", &Row::compute, Unit::ns},
                                      {"other", &Row::other, Unit::ns, Role::detail},
                                      {"bubble", &Row::bubble, Unit::ns},
                                      {"waiting", &Row::waiting, Unit::ns},
                                      {"idle", &Row::idle, Unit::ns},
                                      {"bubble_share", &Row::bubble_share, Unit::share, Role::share},
                                      {"ideal_share", &Row::ideal_share, Unit::share},
                                      {"excess", &Row::excess, Unit::ns}};
  sheet.fields.insert(sheet.fields.end(), std::begin(times), std::end(times));
  return sheet;
}

const report::Sheet<PipelineStage> kStageSheet =
    with_times<PipelineStage>({"Stages",
                               Shape::table,
                               {{"rank", &PipelineStage::rank, Unit::none, Tag::rank},
                                {"pipeline", &PipelineStage::pipeline, Unit::none, Role::detail},
                                {"stage", &PipelineStage::stage, Unit::none, Role::key},
                                {"stages", &PipelineStage::stages, Unit::count},
                                {"steps", &PipelineStage::steps, Unit::count},
                                {"micro_batches", &PipelineStage::micro_batches, Unit::count},
                                {"chunks", &PipelineStage::chunks, Unit::count, Role::detail}}});

const report::Sheet<StageBalance> kBalanceSheet{
    "Balance of the stages",
    Shape::table,
    {{"pipeline", &StageBalance::pipeline, Unit::none, Role::key},
     {"heaviest_stage", &StageBalance::stage, Unit::none, Role::value},
     {"on_rank", &StageBalance::rank, Unit::none, Role::value},
     {"stages", &StageBalance::stages, Unit::count},
     {"known", &StageBalance::known, Unit::count, Role::detail},
     {"compute", &StageBalance::compute, Unit::ns},
     {"mean_compute", &StageBalance::mean, Unit::ns},
     {"beyond", &StageBalance::beyond, Unit::share, Role::share},
     {"cost", &StageBalance::cost, Unit::ns}}};

const report::Sheet<StageStep> kStepSheet =
    with_times<StageStep>({"Steps of the stages",
                           Shape::table,
                           {{"rank", &StageStep::rank, Unit::none, Tag::rank},
                            {"step", &StageStep::step, Unit::none, Tag::of_one_run},
                            {"stage", &StageStep::stage, Unit::none, Role::key},
                            {"micro_batches", &StageStep::micro_batches, Unit::count}}});

}  // namespace

Pipeline pipeline_of(const Derived& derived) {
  const trace::Trace& trace = derived.trace();
  Pipeline out{{}, {}, {}, trace.doubts};
  if (trace.ranks.size() < 2) {
    out.notes.emplace_back("Only one rank is open: name several files, or the folder that holds them.");
    return out;
  }
  Times all;
  const std::vector<derive::Stage> stages = derive::stages_of(derived.collectives());
  for (std::size_t r = 0; r < stages.size(); ++r)
    if (stages[r].pipeline >= 0) add_rank(out, all, trace.ranks[r], stages[r], derived.steps(trace.ranks[r]));
  if (out.steps.empty()) {
    out.notes.emplace_back(
        "No pipeline found: no chain of ranks is recorded that sends and receives in profiler steps.");
    return out;
  }
  add_balance(out);
  out.notes.push_back(sentence(out, all, stages));
  if (std::string absent = missing(out, stages); !absent.empty()) out.notes.push_back(std::move(absent));
  return out;
}

constinit const About pipeline_about = {{}, true, Needs::digests};

report::Report pipeline(const Derived& derived, const report::Params&) {
  Pipeline of = pipeline_of(derived);
  return {"pipeline",
          {tabulate(kStageSheet, of.stages, true), tabulate(kStepSheet, of.steps, true),
           tabulate(kBalanceSheet, of.balance, true)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
