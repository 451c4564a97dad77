// Rules of the host (H): work is issued too slowly.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advise/cite.h"
#include "advise/device_work.h"
#include "advise/health.h"
#include "advise/places.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/rules/on_cpu.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Unit;

/// "op 9.95 ms, python 1.36 ms": idle time per step by cause, most first, without zeros.
std::string listed_causes(const Evidence& e, std::vector<IdleCause> causes) {
  std::stable_sort(causes.begin(), causes.end(),
                   [&](IdleCause a, IdleCause b) { return e.idle(a) > e.idle(b); });
  std::string out;
  for (const IdleCause cause : causes)
    if (e.idle(cause) > 0)
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name_of(cause), ns(e.idle(cause) / e.steps()));
  return out;
}

/// Idle time in the window in which the host had not launched yet only because launching is slow; 0 if
/// launching one by one does not limit.
std::int64_t late_launching(const Evidence& e, Bound bound) {
  std::int64_t late = 0;
  for (const IdleCause cause : kLateCauses) late += e.idle(cause);
  late += static_cast<std::int64_t>(e.bound_share(&analyze::BoundNumbers::latency) *
                                    static_cast<double>(e.window()));
  const bool limits = bound == Bound::host && e.share(late) >= kLateIdleShare &&
                      e.fact(&Facts::kernels) / e.steps() >= kMinKernels && e.prompt() >= kPromptShare;
  return limits ? late : 0;
}

/// Most kernels were made by a compiler and none is launched as part of a graph.
bool compiled_not_captured(const Evidence& e) {
  if (e.fact(&Facts::graph_launches) > 0) return false;
  std::int64_t all = 0, compiled = 0;
  for (const analyze::KernelTimes* row : e.mine(e.reports().kernels.kernels, "Kernels by name")) {
    all += row->count;
    if (row->name.starts_with("triton_")) compiled += row->count;
  }
  return all > 0 && static_cast<double>(compiled) >= kCompiledShare * static_cast<double>(all);
}

Claim late_claim(const Evidence& e, RuleId id, std::int64_t late, std::string title) {
  Claim f = claim(e, id, std::move(title));
  save(f, late / e.steps(), kGraphPessimism, kGraphShare);
  f.leftover = late / e.steps();
  f.confidence = e.share(e.fact(&Facts::profiler)) >= kVisibleCost ? Confidence::low : Confidence::medium;
  f.because = "the gaps end with late launches from the host";
  f.evidence = {
      see::idle(listed_causes(e, {IdleCause::op, IdleCause::python, IdleCause::annotation, IdleCause::launch,
                                  IdleCause::runtime, IdleCause::untraced}) +
                (e.fact(&Facts::complete_steps) > 0 ? " per step" : " in the recording") + longest_idle(e)),
      see::launches("by stream" + room_for_more(e))};
  f.at = longest_idle_moment(e);
  f.verify = "The idle share falls, graph launches appear, kernels start more than 10 µs after their launch.";
  f.effort = Effort::one_line;
  return f;
}

std::optional<Claim> launch_bound(const Evidence& e, Bound bound) {
  const std::int64_t late = late_launching(e, bound);
  if (late == 0 || compiled_not_captured(e)) return std::nullopt;
  const std::int64_t mean = e.fact(&Facts::kernels) > 0 ? e.fact(&Facts::busy) / e.fact(&Facts::kernels) : 0;
  Claim f = late_claim(
      e, RuleId::H01, late,
      fmt::format("The host issues its {} kernels{} ({} of device work each) too slowly: late launches leave "
                  "the device idle {} of the time",
                  format_value(e.fact(&Facts::kernels) / e.steps(), Unit::count),
                  e.fact(&Facts::complete_steps) > 0 ? " per step" : "", ns(mean), percent(e.share(late))));
  f.remedy =
      "First a larger batch if memory allows. Then torch.compile(model, mode=\"reduce-overhead\"), or " +
      device_graphs(e) + " for fixed shapes; fused " +
      (e.launched_in("Optimizer.step#").ranges > 0 ? "optimizers and modules." : "modules.");
  return f;
}

std::optional<Claim> not_captured(const Evidence& e, Bound bound) {
  const std::int64_t late = late_launching(e, bound);
  if (late == 0 || !compiled_not_captured(e)) return std::nullopt;
  Claim f = late_claim(
      e, RuleId::G03, late,
      fmt::format("The program is compiled, but its {} kernels per step are still launched one by one: that "
                  "leaves the device idle {} of the time",
                  format_value(e.fact(&Facts::kernels) / e.steps(), Unit::count), percent(e.share(late))));
  f.remedy = fmt::format(
      "torch.compile(model, mode=\"reduce-overhead\") captures {}. TORCH_LOGS=perf_hints,cudagraphs shows "
      "what prevents it: inputs on the CPU, mutated inputs, changing sizes.",
      device_graphs(e));
  return f;
}

/// Frames in which Python itself waits: locks, queues, sleeping, polling.
bool is_waiting_frame(std::string_view frame) {
  for (const std::string_view part :
       {"acquire", "sleep", "select", "poll", "queue.py", "threading.py", "wait"})
    if (frame.find(part) != std::string_view::npos) return true;
  return false;
}

/// The line of the program with most idle time, summed over all places there.
struct Line {
  std::string name, frame;  ///< `name`: as people write it; `frame`: as recorded
  std::int64_t time = 0;
  bool waits = false;
};
Line dearest_line(const std::vector<Place>& places) {
  std::map<std::string, Line> lines;
  for (const Place& place : places) {
    Line& line = lines[place.spoken()];
    line.name = place.spoken();
    if (line.time == 0) line.frame = place.place;
    line.waits |= line.time == 0 && is_waiting_frame(place.place);  // the first place has most time
    line.time += place.time;
  }
  Line most;
  for (const auto& [name, line] : lines)
    if (line.time > most.time) most = line;
  return most;
}

std::optional<Claim> python_bound(const Evidence& e, Bound bound) {
  const std::vector<Place> python =
      places_of(e, [](const Place& p) { return p.cause == IdleCause::python && !p.between_steps(); });
  const std::int64_t all = time_of(python);
  const bool host_only = bound == Bound::host_only;
  const bool limits = bound == Bound::host || bound == Bound::mixed || host_only;
  if (!limits || e.share(all) < kPythonShare) return std::nullopt;
  const Line line = dearest_line(python);
  if (static_cast<double>(line.time) < kTopFrameShare * static_cast<double>(all)) return std::nullopt;
  Claim f = claim(e, RuleId::H02,
                  fmt::format("{}: {} {} {}", of_step(e, line.time),
                              !host_only   ? "the device waits"
                              : line.waits ? "the program waits"
                                           : "the program runs",
                              line.waits  ? "while Python itself waits in"
                              : host_only ? "only Python code in"
                                          : "for Python code in",
                              line.name));
  const double recorded = std::max(0.0, 1 - e.share(e.fact(&Facts::profiler)));
  const double least = host_only && !line.waits ? 0 : kPythonLeast;
  save(f, line.time / e.steps(), least * recorded, kPythonMost);
  f.ideal = {scale_of(Scale::What::quiet, line.frame, 0)};
  f.pessimism = least * (recording_share(e) > 0 ? 1 : recorded);  // replay covers a cost that shows
  f.confidence = Confidence::medium;
  f.because = "recording with stacks slows Python down, so its share without recording is smaller";
  const Proof shown = (host_only ? see::host_time : see::idle)(
      fmt::format("cause python, {}, {} of it in this line (time by place)", per_step(e, all),
                  ns(line.time / e.steps())));
  f.evidence = {shown};
  f.remedy =
      line.waits
          ? fmt::format(
                "Do not wait in {}: prefetch what it waits for on another thread, or start it earlier.",
                line.name)
          : fmt::format(
                "Look at {}: cache its result, vectorise it, or move it out of the loop or to another "
                "thread; torch.compile the region if it only calls operators.",
                line.name);
  f.verify = fmt::format(
      "The line's time in `stepscope show {}` falls; the step is shorter without with_stack as well.",
      shown.analysis);
  f.effort = Effort::code;
  return f;
}

/// ns per step lost to these ranges: idle time of the device, plus its work for them if that limits. For
/// recordings that cannot be replayed.
std::int64_t claimed_by(const Evidence& e, const analyze::Launched& ranges, const Claim& f) {
  const std::int64_t device = f.shortens_kernels ? ranges.device : 0;
  return report::plus(ranges.idle, device) / e.steps();
}

/// Whether all times, even sums, are whole microseconds: the file then has no finer digits.
bool in_whole_microseconds(const analyze::Launched& ranges) {
  constexpr std::int64_t kMicrosecond = 1'000;
  return ranges.median % kMicrosecond == 0 && ranges.device % kMicrosecond == 0 &&
         ranges.host % kMicrosecond == 0;
}

std::optional<Claim> optimizer_loop(const Evidence& e, Bound bound) {
  if (bound == Bound::host_only) return optimizer_on_cpu(e);
  const analyze::Launched& steps = e.launched_in("Optimizer.step#");
  if (steps.ranges == 0 || steps.events < kManyLaunches * steps.ranges || steps.median >= kShortKernel)
    return std::nullopt;
  Claim f = claim(e, RuleId::H03,
                  fmt::format("The optimizer launches {} kernels per step, median {}{}",
                              format_value(steps.events / steps.ranges, Unit::count),
                              report::format_rough(static_cast<double>(steps.median), Unit::ns),
                              in_whole_microseconds(steps) ? " (the file has only whole µs)" : "") +
                      needless_groups(e));
  f.shortens_kernels = bound != Bound::host;  // if the host limits, shorter kernels save nothing
  save(f, claimed_by(e, steps, f), kMultiTensorLeast, kMultiTensorMost);
  const Scale::What what = f.shortens_kernels ? Scale::What::op : Scale::What::host;
  change(f, {scale_any(what, {"Optimizer.step#"}, rounded(1 - kMultiTensorMost))},
         {scale_any(what, {"Optimizer.step#"}, rounded(1 - kMultiTensorLeast))});
  f.confidence = Confidence::high;
  f.because = fmt::format("{} launches are counted; multi-tensor optimizers need about 30",
                          format_value(steps.events / steps.ranges, Unit::count));
  f.evidence = {see::launches("calls"), see::call_tree("Optimizer.step")};
  f.remedy = merged_groups(e) + all_at_once(steps.name);
  f.verify = "Under 50 kernels in Optimizer.step, with multi_tensor_apply or fused in their names.";
  return f;
}

/// With gradients set to None, the first backward pass of a step stores its gradient instead of adding it.
/// The node and its host time stay.
std::optional<Scale> without_adding(const Evidence& e, const analyze::Launched& fills) {
  const analyze::Launched& adds = e.launched_in(kAccumulate);
  if (adds.events == 0 || adds.ranges == 0) return std::nullopt;
  return scale_of(Scale::What::device, kAccumulate,
                  std::max(0.0, 1 - report::ratio(fills.events, adds.ranges)));
}

std::optional<Claim> zero_fill(const Evidence& e, Bound bound) {
  if (bound == Bound::host_only) return zero_fill_on_cpu(e);
  const analyze::Launched& fills = e.launched_in("Optimizer.zero_grad#");
  if (fills.ranges == 0 || fills.events < kManyFills * fills.ranges) return std::nullopt;
  Claim f = claim(e, RuleId::H04,
                  fmt::format("zero_grad writes zeros with {} device events per step",
                              format_value(fills.events / fills.ranges, Unit::count)));
  f.shortens_kernels = bound != Bound::host;
  save(f, claimed_by(e, fills, f), kZeroFillPessimism, 1);
  change(f, {scale_any(Scale::What::op, {"Optimizer.zero_grad#"}, 0)}, kZeroFillPessimism);
  if (f.shortens_kernels)
    if (const auto adding = without_adding(e, fills)) f.ideal.push_back(*adding);
  f.confidence = Confidence::high;
  f.because = "the events are counted; with gradients set to None there are none";
  f.evidence = {see::launches("calls"), see::call_tree("Optimizer.zero_grad")};
  f.remedy =
      "optimizer.zero_grad(set_to_none=True), the default since PyTorch 2.0: delete set_to_none=False. "
      "Keep it if code reads .grad as zeros.";
  f.verify = "No fills below Optimizer.zero_grad.";
  return f;
}

std::optional<Claim> data_parallel(const Evidence& e, Bound) {
  if (e.fact(&Facts::data_parallel_calls) == 0) return std::nullopt;
  const std::size_t devices = e.mine(e.reports().devices.devices, "Devices").size();
  if (devices < 2) return std::nullopt;
  Claim f =
      claim(e, RuleId::H08, fmt::format("torch.nn.DataParallel drives {} devices from one process", devices));
  f.confidence = Confidence::high;
  f.because = "its forward is in the trace";
  f.evidence = {see::operators("DataParallel.forward")};
  f.remedy = "Use torch.nn.parallel.DistributedDataParallel, one process per device (torchrun).";
  f.verify = "DistributedDataParallel.forward appears instead.";
  f.effort = Effort::code;
  return f;
}

constexpr Rule kHostRules[] = {
    {RuleId::H03, "the optimizer updates parameter by parameter", true, optimizer_loop,
     R"(Looks at: what ranges `Optimizer.step#…` launch. Fires with at least kManyLaunches device events per
optimizer step, half of them shorter than kShortKernel.

Saving: replay with these ranges shorter by kMultiTensorLeast to kMultiTensorMost, and what they launch as
well unless the host limits: multi-tensor optimizers need about 30 launches, and the shortest kernels take
longer to start than to work. If the recording cannot be replayed: the same shares of the idle time inside
these ranges and, unless the host limits, of their kernels' time.

Without a device: fires with at least kManyLaunches operators per optimizer step, shorter than kShortKernel on
average, if they take kOptimizerShare of the window; saving: kMultiTensorOnCpuLeast to kMultiTensorMost of the host time minus what recording cost. The high end subtracts only
kSureRecording of that cost.

Where the optimizer has kManyGroups parameter groups or more (`parameter_groups` of `overview`), twice as many as they have
different settings, the finding says so and proposes to merge them.

Silent on: fused and foreach optimizers; loops that the device hides, as their saving is under a hundredth of
the step; optimizers with long kernels.)"},
    {RuleId::H04, "gradients are filled with zeros", true, zero_fill,
     R"(Looks at: what ranges `Optimizer.zero_grad#…` launch. Fires with at least kManyFills device events in
each.

Saving: replay without these ranges and what they launch and, unless the host limits, without the kernels that
add to a gradient what would be its first value; the low end is kZeroFillPessimism of it. If the recording
cannot be replayed: the idle time inside these ranges and, unless the host limits, the time of their fills.

Without a device: fires with at least kManyFills operators in each; saving: from kZeroFillPessimism of their
host time minus what recording cost, to kZeroFillMost of it minus kSureRecording of that cost.

Silent on: gradients set to None.)"},
    {RuleId::H02, "the device waits for Python code", true, python_bound,
     R"(Looks at: *Idle time by place* of `idle`, cause `python`: only Python was running. Fires when such
time is at least kPythonShare of the window, outside the borders of steps, and one line of the program holds
kTopFrameShare of it.

Saving: replay without that line's frames, if they launch nothing; else kPythonMost of its idle time. The low
end is kPythonLeast × (1 − recording's share) of it.

Without a device: the same with *Host time by place* of `host_time`: time in which no operator runs. Unless the line
waits, the low end is 0: whether it is needed is not in the file.

Silent on: Python spread thinly over the framework (H01); recordings without stacks; verdicts other than
host-bound and mixed. A frame that itself waits (lock, queue, sleep) gets another sentence.)"},
    {RuleId::H01, "kernels are issued too slowly", true, launch_bound,
     R"(Looks at: `idle`, causes `launch`, `runtime`, `op`, `python`, `annotation` and `untraced`; `latency` and
`prompt` of `ledger`. Fires when the program is host-bound, causes and latency hold `kLateIdleShare` of the
window, at least kMinKernels kernels run per step, and kPromptShare of them start within 10 µs of their
launch: nothing was queued before them.

Saving: kGraphPessimism to kGraphShare of that idle time, without what recording itself cost (Q05) and without
what findings with a more specific cause save there by replay; silent if less than kLateIdleShare of the step
is left.

Silent on: waits for data, blocking calls, allocations; compiled programs (G03); recordings that lack device
events.)"},
    {RuleId::G03, "compiled, but launched one by one", true, not_captured,
     R"(Looks at: the same as H01, and `kernels`. Fires instead of H01 when kCompiledShare of kernels have a
compiler's name (`triton_…`) and no graph is launched.

Saving: as H01.

Silent on: captured graphs.)"},
    {RuleId::H08, "DataParallel instead of DistributedDataParallel", false, data_parallel,
     R"(Looks at: `data_parallel_calls` of `overview`, `devices`. Fires when `DataParallel.forward` is
recorded and several devices work.

Saving: none is estimated.

Silent on: DistributedDataParallel.)"},
};

}  // namespace

std::span<const Rule> host_rules() { return kHostRules; }

}  // namespace stepscope::advise
