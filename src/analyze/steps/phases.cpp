#include "analyze/steps/phases.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyze/list.h"
#include "derive/row_time.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::kPhases;
using report::kNoInt;
using report::Role;
using report::Unit;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::StringId;

/// In the order of a training step.
constexpr std::array<Phase, kPhases> kOrder = {Phase::data, Phase::forward, Phase::backward, Phase::optimizer,
                                               Phase::other};

struct OpSum {
  std::int64_t calls = 0, self = 0;
};

class PhaseGatherer {
 public:
  PhaseGatherer(const Derived& derived, const Rank& rank)
      : trace_(derived.trace()),
        choice_(derived.choice()),
        rank_(rank),
        window_(window_of(rank, choice_)),
        times_(derive::phase_times(trace_, rank, window_)),
        at_(times_) {
    for (std::size_t p = 0; p < kPhases; ++p) {
      sums_[p] = {rank.rank, static_cast<Phase>(p), times_[p].length(), kNoInt, 0, 0, 0, 0};
      sums_[p].share = report::ratio(sums_[p].time, window_.length());
    }
  }

  void add_to(Phases& of) {
    add_steps(of.steps);
    add_ops();
    add_device();
    for (const Phase phase : kOrder) of.phases.push_back(sums_[static_cast<std::size_t>(phase)]);
    const auto first = static_cast<std::ptrdiff_t>(of.ops.size());
    for (const auto& [key, sum] : ops_)
      of.ops.push_back({rank_.rank, key.first, std::string(trace_.text(key.second)), sum.calls, sum.self,
                        report::ratio(sum.self, times_[static_cast<std::size_t>(key.first)].length())});
    std::sort(of.ops.begin() + first, of.ops.end(), [](const PhaseOp& a, const PhaseOp& b) {
      return std::tuple(-a.self, a.phase, std::string_view(a.op)) <
             std::tuple(-b.self, b.phase, std::string_view(b.op));
    });
  }

 private:
  void add_steps(std::vector<StepPhases>& steps) {
    std::int64_t count = 0;
    for (const StepSpan& step : step_spans(rank_)) {
      const trace::Step& of = rank_.steps[step.index];
      if (of.number < 0 || step.partial || !choice_.includes(of)) continue;
      ++count;
      StepPhases row{rank_.rank, of.number, {}};
      for (std::size_t p = 0; p < kPhases; ++p) row.times[p] = times_[p].length_in(step.span);
      steps.push_back(row);
    }
    if (count == 0) return;
    for (PhaseTime& sum : sums_) sum.per_step = sum.time / count;
  }

  void add_ops() {
    const EventTable& e = rank_.events;
    const derive::RowTimes times = derive::row_times(rank_);
    for (const Row row : rank_.host_rows()) {
      if (e.kind[row] != Kind::op || !window_.contains(e.start[row])) continue;
      const Phase phase = at_(e.start[row]);
      ++sums_[static_cast<std::size_t>(phase)].ops;
      OpSum& sum = ops_[{phase, e.name[row]}];
      ++sum.calls;
      report::add_to(sum.self, times.host_self[row]);
    }
  }

  void add_device() {
    const EventTable& e = rank_.events;
    for (const Row row : rank_.device_rows()) {
      const Row launch = e.launch[row];
      if (!is_device_work(e.kind[row]) || launch == kNoRow || !window_.contains(e.start[launch])) continue;
      PhaseTime& sum = sums_[static_cast<std::size_t>(at_(e.start[launch]))];
      ++sum.kernels;
      report::add_to(sum.device, e.duration(row));
    }
  }

  const trace::Trace& trace_;
  const StepChoice& choice_;
  const Rank& rank_;
  const timeline::Interval window_;
  const derive::PhaseTimes times_;
  const derive::PhaseAt at_;
  std::array<PhaseTime, kPhases> sums_;
  std::map<std::pair<Phase, StringId>, OpSum> ops_;
};

template <Phase phase>
std::int64_t part(const StepPhases& step) {
  return step.times[static_cast<std::size_t>(phase)];
}

const report::Sheet<PhaseTime> kPhaseSheet{"Phases",
                                           report::Shape::bars,
                                           {report::rank_field<PhaseTime>(&PhaseTime::rank),
                                            {"phase", report::named<&PhaseTime::phase>},
                                            {"time", &PhaseTime::time, Unit::ns},
                                            {"per_step", &PhaseTime::per_step, Unit::ns},
                                            {"share", &PhaseTime::share, Unit::share, Role::share},
                                            {"ops", &PhaseTime::ops, Unit::count},
                                            {"kernels", &PhaseTime::kernels, Unit::count},
                                            {"device", &PhaseTime::device, Unit::ns}}};

const report::Sheet<PhaseOp> kPhaseOpSheet{"Operators by phase",
                                           report::Shape::table,
                                           {report::rank_field<PhaseOp>(&PhaseOp::rank),
                                            {"phase", report::named<&PhaseOp::phase>},
                                            {"op", &PhaseOp::op},
                                            {"calls", &PhaseOp::calls, Unit::count},
                                            {"self", &PhaseOp::self, Unit::ns},
                                            {"share", &PhaseOp::share, Unit::share, Role::share}}};

const report::Sheet<StepPhases> kStepPhaseSheet{
    "Phases of each step",
    report::Shape::table,
    {report::rank_field<StepPhases>(&StepPhases::rank),
     {"step", +[](const StepPhases& s) { return std::to_string(s.step); }},
     {"data", &part<Phase::data>, Unit::ns},
     {"forward", &part<Phase::forward>, Unit::ns},
     {"backward", &part<Phase::backward>, Unit::ns},
     {"optimizer", &part<Phase::optimizer>, Unit::ns},
     {"other", &part<Phase::other>, Unit::ns}}};

}  // namespace

Phases phases_of(const Derived& derived) {
  Phases of;
  bool any = false;
  for (const Rank& rank : derived.trace().ranks) {
    if (rank.host_rows().empty()) continue;
    any = true;
    PhaseGatherer(derived, rank).add_to(of);
  }
  if (!any) of.notes.emplace_back("No host ranges are recorded. Record with ProfilerActivity.CPU.");
  return of;
}

constinit const About phases_about = {};

report::Report phases(const Derived& derived, const report::Params&) {
  Phases of = phases_of(derived);
  const bool several = derived.trace().several();
  return {"phases",
          {tabulate(kPhaseSheet, of.phases, several), tabulate(kPhaseOpSheet, of.ops, several),
           tabulate(kStepPhaseSheet, of.steps, several)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
