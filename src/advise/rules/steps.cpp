// Rules of single steps: those that took longer than the others (H09, I06), and pauses between steps (H07).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "advise/long_step.h"
#include "advise/places.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using analyze::StepRole;
using analyze::StepTime;
using report::kNoInt;

/// The rank's steps with a known length, on the device or, if no device is recorded, on the host.
struct OwnSteps {
  std::vector<const StepTime*> steps;
  std::vector<std::int64_t> lengths;
  std::int64_t median = kNoInt, median_loading = kNoInt;

  std::int64_t excess(std::size_t i) const { return lengths[i] - median; }
  /// Without what the step waits longer for data.
  std::int64_t excess_beside_loading(std::size_t i) const {
    return excess(i) - std::max<std::int64_t>(0, steps[i]->part(StepRole::data_loader) - median_loading);
  }
};

OwnSteps steps_of(const Evidence& e, Bound bound) {
  OwnSteps own;
  for (const StepTime* step : e.mine(e.reports().steps.steps, "Step time by what the time went to"))
    if (const std::int64_t length = step->length(bound != Bound::host_only); length != kNoInt) {
      own.steps.push_back(step);
      own.lengths.push_back(length);
    }
  std::vector<std::int64_t> sorted = own.lengths;
  own.median = report::quantile(sorted, 0.5);
  std::vector<std::int64_t> loading;
  for (const StepTime* step : own.steps) loading.push_back(step->part(StepRole::data_loader));
  own.median_loading = report::quantile(loading, 0.5);
  return own;
}

/// "; on the host aten::empty grew by 12.3 ms" from the table of outliers; "" if the step is not in it.
std::string grown_op(const Evidence& e, std::int64_t step) {
  for (const analyze::StepOutlier* own :
       e.mine(e.reports().steps.outliers, "Outlier steps: what grew against the median step"))
    if (own->step == step && own->lane == analyze::StepLane::host)
      return fmt::format("; on the host {} grew by {}", own->what, ns(own->growth()));
  return "";
}

std::string remedy_of(const LongStep& longest, Bound bound) {
  if (longest.role == StepRole::data_loader)
    return "Look at the DataLoader: a pass over the data begins in such a step "
           "(persistent_workers=True keeps its workers), or one batch takes longer than the others "
           "(`stepscope show input_wait`).";
  if (longest.role == StepRole::kernel)
    return fmt::format(
        "Compare the kernels of step {0} with those of another one (`stepscope show kernels --step {0}`). "
        "If there are more, the batch was larger; if the same ones took longer, the device's clock was "
        "lower, or another program used the device.",
        longest.name);
  return fmt::format(
      "Look at step {} alone (`stepscope show {} --step {}`). Usual causes: a checkpoint or log written in "
      "the step, garbage collection, another program on the machine.",
      longest.name, bound == Bound::host_only ? "host_time" : "idle", longest.name);
}

std::optional<Claim> step_outlier(const Evidence& e, Bound bound) {
  const std::optional<LongStep> longest = longest_step(e, bound != Bound::host_only);
  if (!longest || only_waited(*longest, e.rank()) ||
      (bound == Bound::host_only && e.share(longest->beyond * e.steps()) < kOutlierWorth))
    return std::nullopt;
  const std::string& step = longest->name;
  Claim f = claim(e, RuleId::H09,
                  fmt::format("Step {} took {} against a median of {}: {}", step, ns(longest->length),
                              ns(longest->median), why_longer(*longest, e.rank())));
  f.confidence = Confidence::medium;
  f.because = bound == Bound::host_only
                  ? "lengths are those of the step marks on the host"
                  : "lengths are measured between the ends of device work, not between marks of the host";
  f.evidence = {see::steps(
      fmt::format("device_length of step {}{}; spread over all steps, such outliers cost {} per step", step,
                  grown_op(e, longest->number), ns(longest->beyond)))};
  f.at = longest->at;
  f.remedy = remedy_of(*longest, bound);
  f.verify = "No step exceeds the median by more than 10 %.";
  f.effort = Effort::code;
  return f;
}

/// Kinds of pauses between steps, by parts of the host's place; the first match counts.
struct Pause {
  std::array<std::string_view, 6> parts;
  const char *what, *remedy;
};
constexpr Pause kPauses[] = {
    {{"serialization.py", "save", "checkpoint"},
     "a checkpoint is written",
     "Write it asynchronously (torch.distributed.checkpoint.async_save, or a copy to pinned memory saved by "
     "a thread), or less often."},
    {{"logging", "tqdm", "print", "wandb", "tensorboard"},
     "something is logged",
     "Log every N steps, and from another thread."},
    {{"gc.", "collect"},
     "Python collects garbage",
     "gc.collect(), gc.freeze() and gc.disable() after the first step, then gc.collect() every few hundred "
     "steps, at the same step on all ranks."},
    {{"json", "pickle", "csv", "write"},
     "something is written",
     "Write every N steps, or hand the data to another thread."},
    {{"metric", "eval", "valid", "accuracy"},
     "metrics are computed",
     "Compute metrics every N steps, and keep them as tensors until then."},
};

bool is_loop_work(const Place& place) {
  for (const std::string_view part :
       {"Optimizer.", "DataParallel.forward", "DataLoader", "forward", "backward"})
    if (place.region.find(part) != std::string::npos) return true;
  return false;
}

/// Scales that remove the pauses with a range of their own; empty unless these are most of the time.
std::vector<Scale> without_named(const std::vector<Place>& pauses) {
  std::vector<Scale> ranges;
  std::int64_t named = 0;
  for (const Place& pause : pauses) {
    if (pause.place.empty() || (pause.cause != IdleCause::python && pause.cause != IdleCause::annotation &&
                                pause.cause != IdleCause::io))
      continue;
    ranges.push_back(scale_of(Scale::What::quiet, pause.place, 0));
    report::add_to(named, pause.time);
  }
  if (named * 2 <= time_of(pauses)) ranges.clear();
  return ranges;
}

bool writes_files(const Place& place) {
  return place.cause == IdleCause::io || place.place.find("serialization.py") != std::string::npos;
}

/// The profiler's own work between steps.
bool is_profiler(const Place& place) {
  return place.place.find("torch/profiler") != std::string::npos ||
         place.place.find("stepscope/profiler") != std::string::npos ||
         place.place.find("torch/autograd/profiler") != std::string::npos;
}

std::optional<Claim> pause_between_steps(const Evidence& e, Bound bound) {
  const bool host_only = bound == Bound::host_only;
  const auto least =
      std::max(kLongPause, static_cast<std::int64_t>(kLongPauseShare * static_cast<double>(e.step_length())));
  const std::vector<Place> pauses = places_of(e, [&](const Place& p) {
    const bool host = p.cause == IdleCause::python || p.cause == IdleCause::annotation ||
                      p.cause == IdleCause::io || p.cause == IdleCause::untraced ||
                      (p.cause == IdleCause::op && !host_only);
    const bool regular = host_only && p.cause == IdleCause::python && p.count >= e.steps();
    return host && !is_profiler(p) && p.place != "Python GC" &&
           ((p.longest >= least && !regular) || (p.between_steps() && !is_loop_work(p)));
  });
  const std::int64_t cost = time_of(pauses);
  if (e.share(cost) < kBorderShare || e.fact(&Facts::complete_steps) < 2 ||
      (host_only && cost < std::max(kRecordedBorder * e.steps(), kLeftBehind * e.fact(&Facts::ops))))
    return std::nullopt;
  const Place& most = pauses.front();
  const Pause* known = nullptr;
  for (const Pause& pause : kPauses)
    for (const std::string_view part : pause.parts)
      if (known == nullptr && !part.empty() &&
          (most.place + most.source + most.region).find(part) != std::string::npos)
        known = &pause;
  const std::string where = most.spoken().empty() ? "" : " in " + most.spoken();
  Claim f = claim(
      e, RuleId::H07,
      fmt::format("For {} {} {}: {}{}", of_step(e, cost), host_only ? "the program is" : "the device idles",
                  most.between_steps() ? "between steps" : "in long pauses",
                  known != nullptr              ? known->what
                  : most.place.empty()          ? "nothing is recorded there"
                  : most.cause == IdleCause::op ? "the host runs operators"
                  : most.cause == IdleCause::io ? "the host reads or writes files"
                                                : "the host is",
                  where));
  save(f, cost / e.steps(), kBorderPessimism, host_only ? kSlowedToo : 1);
  if (most.longest >= least) f.seen = most.count;
  f.ideal = without_named(pauses);
  f.pessimism = kBorderPessimism;
  f.confidence = most.cause == IdleCause::untraced ? Confidence::low : Confidence::medium;
  f.because = most.cause == IdleCause::untraced ? "nothing is recorded on the launching threads at that time"
                                                : "the host's place at that time is recorded";
  const std::string shown =
      fmt::format("time by place, {}, the longest pause {}", per_step(e, cost), ns(most.longest));
  f.evidence = {host_only ? see::host_time(shown) : see::idle(shown)};
  f.remedy = known != nullptr
                 ? known->remedy
                 : "Find what the loop does there. Run callbacks, logging and checkpoints every N steps or "
                   "on another thread; for garbage collection, gc.freeze() after the first step and "
                   "gc.disable(), with gc.collect() every few hundred steps. with_stack=True (stepscope "
                   "record: --stacks calls) in a short run names the line.";
  f.verify = fmt::format("No time `between steps` over 3 % in `stepscope show {}`.",
                         host_only ? "host_time" : "idle");
  std::int64_t writing = 0;
  for (const Place& pause : pauses)
    if (writes_files(pause)) report::add_to(writing, pause.time);
  f.of_files = 2 * writing > cost;
  f.vague = host_only && known == nullptr && most.source.empty();
  if (f.vague) f.saving_low = 0;  // nothing is known about what happens there
  if (f.vague) f.typical = std::min(1.0, 2 * report::ratio(most.count, e.steps()));
  f.effort = Effort::code;
  return f;
}

/// "1.5", "280".
std::string times(double factor) {
  return factor < 10 ? fmt::format("{:.2g}", factor) : fmt::format("{:.0f}", factor);
}

std::optional<Claim> cpu_contention(const Evidence& e, Bound bound) {
  const OwnSteps own = steps_of(e, bound);
  const auto count = std::ssize(own.steps);
  if (count < kStepsToCompare) return std::nullopt;
  std::int64_t lost = 0, slow = 0;
  std::size_t worst = 0;
  for (std::size_t i = 1; i < own.steps.size(); ++i) {
    const analyze::StepPace& pace = own.steps[i]->pace;
    if (!(pace.slower >= kSlowerOpsShare) || !(pace.host >= kHostPace) ||
        std::abs(pace.device - 1) > kSamePace || own.excess_beside_loading(i) <= 0)
      continue;
    lost += own.excess_beside_loading(i);
    if (slow++ == 0 || pace.host > own.steps[worst]->pace.host) worst = i;
  }
  if (slow == 0 || e.share(lost) < kContentionShare) return std::nullopt;
  const analyze::StepPace& pace = own.steps[worst]->pace;
  const bool no_kernels = std::isnan(pace.device);
  Claim f = claim(e, RuleId::I06,
                  fmt::format("In {} of {} steps host operators take {} times as long (median){}: something "
                              "else uses the CPU{}",
                              slow, count, times(pace.host), no_kernels ? "" : ", but kernels do not",
                              no_kernels ? ", another program or this one's own workers and threads" : ""));
  save(f, lost / count, 0, bound == Bound::host_only ? kSlowedToo : 1);
  f.confidence = Confidence::low;
  f.typical = std::min(1.0, 2 * report::ratio(slow, count));
  f.because = "most operators slow down together; whether by another program's work is not recorded";
  f.evidence = {
      see::steps(fmt::format("step {} took {} longer; {} of its operator time is in operators that took at "
                             "least 1.3 times as long (slower_ops), device_pace {:.3f}",
                             own.steps[worst]->name(), ns(own.excess(worst)), percent(pace.slower),
                             std::isnan(pace.device) ? 1 : pace.device))};
  f.remedy =
      no_kernels
          ? "Look for other programs on this machine (top) and for CPU quotas (cgroup cpu.max); let the "
            "threads of all processes, torch.set_num_threads() and DataLoader workers, fit the cores."
          : "All ranks on a host share its cores: at most cores ÷ ranks − 1 DataLoader workers for each; "
            "torch.set_num_threads() and OMP_NUM_THREADS likewise; pin ranks to their NUMA node (numactl); "
            "look for CPU quotas (cgroup "
            "cpu.max) and for other jobs.";
  f.verify = "host_pace of all steps under 1.1 in `stepscope show steps --format csv`.";
  f.effort = Effort::option;
  return f;
}

std::optional<Claim> garbage_collections(const Evidence& e, Bound) {
  const std::int64_t cost = e.fact(&Facts::collecting), count = e.fact(&Facts::collections);
  if (e.share(cost) < kCollectingShare || count < 2) return std::nullopt;
  Claim f =
      claim(e, RuleId::H24,
            fmt::format("Python's garbage collector runs {} times per step and takes {} of {}",
                        times(report::ratio(count, e.steps())), ns(cost / e.steps()), ns(e.step_length())));
  save(f, cost / e.steps(), 0, 1);
  f.confidence = Confidence::medium;
  f.because = "each collection is recorded; how much of it goes depends on how many objects live long";
  f.evidence = {see::overview(fmt::format("collecting, {}", per_step(e, cost)))};
  f.remedy =
      "gc.collect() and gc.freeze() after the first step, so that later collections walk new objects only; "
      "make fewer Python objects per step; or gc.disable() with gc.collect() every few hundred steps, at the "
      "same step on all ranks.";
  f.verify = "Less `collecting` in `stepscope show overview`.";
  f.effort = Effort::one_line;
  return f;
}

constexpr Rule kStepRules[] = {
    {RuleId::I06, "the CPU is shared: all operators are slower in some steps", false, cpu_contention,
     R"(Looks at: `steps`: `host_pace`, `slower_ops`, `device_pace`, `device_length`. Needs at least kStepsToCompare
steps. Fires when, in a step other than the first, operators that hold kSlowerOpsShare of operator time took
at least 1.3 times as long per call as in the median step and the median operator `kHostPace` times, kernels
keep their pace (kSamePace) and the step is longer than the median, if all this is kContentionShare of the window.

Saving: up to what these steps take beyond the median, without longer waits for data, spread over all steps, where no device is recorded kSlowedToo of
it; from nothing, as the file does not say what uses the CPU.

Silent on: one slow operator; kernels that slow down as well (clock); steps that are not longer.)"},
    {RuleId::H07, "the device idles between steps", true, pause_between_steps,
     R"(Looks at: *Idle time by place* of `idle`, causes `python`, `annotation`, `io`, `untraced` and `op`. Counts
places `between steps` that are in no range of the loop itself (optimizer, forward, backward, loader), and
places anywhere with one pause of at least kLongPause and kLongPauseShare of a step. Fires when such pauses
hold at least kBorderShare of the window and two or more steps are complete. The code that runs at that time
names the cause: a checkpoint, logging, garbage collection, writing, metrics.

Saving: replay without these ranges, if ranges that launch nothing hold most of that time; else that time. The
low end is kBorderPessimism of it.

Without a device: *Host time by place* of `host_time`, without operators, which are the step's work, and
without long pauses of one Python line in every step (H02); at least kRecordedBorder per step and kLeftBehind
per operator. The high end is kSlowedToo of it; the low end is 0 if nothing names the pause.

Silent on: recorded garbage collections (H24); gaps between steps in which the host already runs the next step's operators; waits for data,
blocking calls and allocations, which have rules of their own.)"},
    {RuleId::H24, "Python's garbage collector takes much of the step", false, garbage_collections,
     R"(Looks at: `collecting` of `overview`: calls named `Python GC` on the main thread, which `stepscope record`,
stepscope.profiler and torch.profiler with `record_python_gc_info` write. Fires if they take kCollectingShare of the window and
there are two or more.

Saving: nothing to all of that time.

Silent on: collections in other threads; recordings without these calls (H07 names pauses in `gc.collect`).)"},
    {RuleId::H09, "one step took much longer than the others", false, step_outlier,
     R"(Looks at: `steps`: `device_length` (`total`, where no device is recorded). Fires when, of at least
kStepsToCompare steps, one exceeds the median by more than kOutlierSpreads × the median distance from it and
by more than kOutlierShare. The finding names the part of the step that grew most, and the operator if
*Outlier steps* has it.

Where no device is recorded, such steps must cost kOutlierWorth, spread over all.

Saving: none in the ranking; the evidence has the cost of such steps, spread over all.

Silent on: the first and the last step, which border on unrecorded time; long marks of a host that runs
ahead; ranks that only waited for one that took longer (their verdict names it).)"},
};

}  // namespace

std::span<const Rule> step_rules() { return kStepRules; }

}  // namespace stepscope::advise
