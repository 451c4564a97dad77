#include "advise/health.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/say.h"
#include "report/units.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Unit;

constexpr std::int64_t kMillisecond = 1'000'000;

std::string count(std::int64_t n) { return format_value(n, Unit::count); }

Health row(const Evidence& e, HealthId id, HealthClass grade, std::string what, std::string suffers,
           std::string remedy) {
  return {id, grade, e.rank(), std::move(what), std::move(suffers), std::move(remedy)};
}

double ratio(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::optional<Health> no_warm_up(const Evidence& e) {
  const std::int64_t warm_up = e.fact(&Facts::warm_up);
  if (warm_up <= 0) return std::nullopt;
  const bool grave = e.share(warm_up) > 0.5;
  return row(e, HealthId::Q01, grave ? HealthClass::A : HealthClass::B,
             fmt::format("{} of the window went to loading, context or stream creation: the recording began "
                         "without a warm-up.",
                         ns(warm_up)),
             "step times, idle time, every saving",
             "Record later: torch.profiler.schedule(wait=1, warmup=2, active=5).");
}

std::optional<Health> launches_without_device(const Evidence& e) {
  const double share = ratio(e.fact(&Facts::launches_without_device), e.fact(&Facts::launches));
  if (share <= 0.01 || device_rows(e) == 0) return std::nullopt;
  return row(e, HealthId::Q02, share > 0.3 ? HealthClass::A : HealthClass::B,
             fmt::format("{} of {} launches have no device event in the file.",
                         count(e.fact(&Facts::launches_without_device)), count(e.fact(&Facts::launches))),
             "device busy time, idle time",
             "Synchronize before the profiler stops, or give it a larger device buffer "
             "(ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB).");
}

std::optional<Health> device_without_launch(const Evidence& e) {
  const double share = ratio(e.fact(&Facts::device_without_launch), device_rows(e));
  if (share <= 0.01) return std::nullopt;
  if (e.fact(&Facts::unlinked_in_window) == 0)
    return row(e, HealthId::Q03, HealthClass::C,
               fmt::format("{} of {} device events were launched before the recording began; they ended "
                           "before the judged steps.",
                           count(e.fact(&Facts::device_without_launch)), count(device_rows(e))),
               "", "");
  return row(
      e, HealthId::Q03, share > 0.1 ? HealthClass::B : HealthClass::C,
      fmt::format(
          "{} of {} device events were launched before the recording began, or their launch is missing.",
          count(e.fact(&Facts::device_without_launch)), count(device_rows(e))),
      "causes of idle time, work per op", "Record more steps; the first part belongs to an earlier step.");
}

std::optional<Health> blind_wait(const Evidence& e) {
  const std::int64_t blind = e.fact(&Facts::blind_wait),
                     pending = e.idle_total(&analyze::IdleTotals::pending_long);
  if (device_rows(e) == 0 || (blind < kMillisecond && e.share(pending) <= 0.05)) return std::nullopt;
  return row(
      e, HealthId::Q04, HealthClass::A,
      blind >= kMillisecond
          ? fmt::format(
                "The host waits {} for a device that has no events in that time: device records are missing.",
                ns(blind))
          : fmt::format("For {} of {} kernels were queued, but the file shows an idle device: some of its "
                        "records are missing.",
                        ns(pending), ns(e.window())),
      "idle time, waits, launches, utilization",
      "schedule(wait=1, warmup=2, active=5), torch.cuda.synchronize() before the profiler stops, and no "
      "other tool (nsys, ncu, rocprof, DCGM) that traces this device at the same time.");
}

/// The options that cost: stacks, else shapes (PyTorch copies each op's inputs); and memory.
std::string costly_options(const Evidence& e) {
  const bool stacks = e.fact(&Facts::python_calls) > 0, memory = e.fact(&Facts::memory_records) > 0,
             shapes = e.fact(&Facts::with_shapes) > 0;
  const std::string_view first = stacks ? "with_stack" : shapes ? "record_shapes" : "";
  if (first.empty() && !memory) return "Compare with the step time without the profiler.";
  return fmt::format("Compare with a run without {}{}{}.", first, !first.empty() && memory ? " and " : "",
                     memory ? "profile_memory" : "");
}

std::optional<Health> profiler_cost(const Evidence& e) {
  const double share = recording_share(e);
  if (share <= 0) return std::nullopt;
  return row(e, HealthId::Q05, share >= 0.2 ? HealthClass::B : HealthClass::C,
             fmt::format("Recording itself cost about {} of the host's time ({} Python calls, {} ops).",
                         percent(share), count(e.fact(&Facts::python_calls)), count(e.fact(&Facts::ops))),
             "host times, launch-bound verdicts", costly_options(e));
}

std::optional<Health> few_steps(const Evidence& e) {
  const std::int64_t steps = e.fact(&Facts::complete_steps);
  if (steps >= 3) return std::nullopt;
  return row(e, HealthId::Q06, steps <= 1 ? HealthClass::B : HealthClass::C,
             steps == 0
                 ? "No profiler steps are marked."
                 : fmt::format("Only {} complete step{} recorded.", steps, steps == 1 ? " is" : "s are"),
             "spread, outliers, trends",
             "Call prof.step() once per iteration and record five: schedule(wait=1, warmup=2, active=5).");
}

std::optional<Health> damaged(const Evidence& e) {
  if (e.fact(&Facts::lost_stretches) == 0 && e.fact(&Facts::document_complete) != 0) return std::nullopt;
  return row(e, HealthId::Q07, HealthClass::B,
             e.fact(&Facts::lost_stretches) == 0
                 ? std::string("The file ends early; everything before that was read.")
                 : fmt::format("{} damaged stretch{} of the file could not be read.",
                               count(e.fact(&Facts::lost_stretches)),
                               e.fact(&Facts::lost_stretches) == 1 ? "" : "es"),
             "totals and counts", "See `stepscope validate` for the byte offsets; record again if you can.");
}

std::optional<Health> no_source(const Evidence& e) {
  if (e.fact(&Facts::python_calls) > 0 || e.fact(&Facts::with_stacks) > 0 ||
      !e.mine(e.reports().lines.nodes, "Lines by caller").empty())
    return std::nullopt;
  return row(
      e, HealthId::Q08, HealthClass::C,
      "Calls of Python are not recorded: findings can name ops, not lines of code.", "source lines",
      "with_stack=True (stepscope record: --stacks calls) in a second, short run names the line; times of "
      "this run stay valid.");
}

std::optional<Health> clocks(const Evidence& e) {
  if (ratio(e.fact(&Facts::device_before_launch), device_rows(e)) <= 0.01) return std::nullopt;
  return row(
      e, HealthId::Q09, HealthClass::B,
      fmt::format(
          "{} device events begin before their launch, by up to {}: the clocks of host and device disagree.",
          count(e.fact(&Facts::device_before_launch)), ns(e.fact(&Facts::largest_lead))),
      "launch delays, spans between host and device",
      "Delays are clipped at 0; spans between host and device are no more precise than that.");
}

std::optional<Health> no_device(const Evidence& e) {
  if (device_rows(e) > 0 || e.without_accelerator() || !e.unused_accelerator().empty()) return std::nullopt;
  return row(e, HealthId::Q10, HealthClass::A, "No device activity is recorded: host times only.",
             "everything about devices",
             "If the program runs on the CPU alone, nothing is missing. Otherwise: "
             "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] (XPU, MTIA …); if that was set, "
             "another tool may be tracing the device.");
}

std::optional<Health> device_lags(const Evidence& e) {
  if (e.share(e.fact(&Facts::device_lag)) <= 0.1) return std::nullopt;
  return row(e, HealthId::Q11, HealthClass::C,
             fmt::format("The device finishes {} after the host's last step: the host runs ahead, and its "
                         "step marks do not measure steps.",
                         ns(e.fact(&Facts::device_lag))),
             "host-side step lengths", "Step lengths here are taken from the device.");
}

std::optional<Health> unseen(const Evidence& e) {
  if (e.share(e.fact(&Facts::unseen)) <= 0.5) return std::nullopt;
  return row(
      e, HealthId::Q12, HealthClass::A,
      fmt::format("In {} of the window nothing at all is recorded, on the host or the device.",
                  percent(e.share(e.fact(&Facts::unseen)))),
      "causes on the host",
      "with_stack=True (stepscope record: --stacks calls), or mark the region with record_function, to see "
      "compilation, file work or a paused job.");
}

std::optional<Health> serialised(const Evidence& e) {
  if (e.fact(&Facts::range_metrics) == 0) return std::nullopt;
  return row(e, HealthId::Q13, HealthClass::A,
             "Counters were collected by replaying kernels: their times are not those of a normal run.",
             "overlap, idle time, step times",
             "Remove experimental_config's profiler_metrics (performance-counter ranges).");
}

std::optional<Health> no_shapes(const Evidence& e) {
  if (const std::int64_t cost = e.fact(&Facts::shapes_cost); cost > 0)
    return row(
        e, HealthId::Q14, HealthClass::C,
        fmt::format("Shapes are recorded in {} of the ops: those of all would have cost {} of the time.",
                    percent(ratio(e.fact(&Facts::with_shapes), e.fact(&Facts::ops))), percent(e.share(cost))),
        "FLOPs, times by shape", "stepscope record --shapes all, if that cost does not matter.");
  if (e.fact(&Facts::ops) == 0 || e.fact(&Facts::with_shapes) > 0) return std::nullopt;
  return row(e, HealthId::Q14, HealthClass::C, "No shapes: FLOPs and bytes per op are unknown.",
             "roofline, FLOPs", "record_shapes=True (stepscope record: --shapes all).");
}

std::optional<Health> foreign(const Evidence& e) {
  if (e.fact(&Facts::foreign) == 0) return std::nullopt;
  return row(
      e, HealthId::Q15, HealthClass::C,
      fmt::format(
          "{} events have a category this version does not know; they are kept, but not counted as work.",
          count(e.fact(&Facts::foreign))),
      "completeness", "`stepscope sql TRACE 'select category, count(*) from event group by 1'` lists them.");
}

std::optional<Health> only_critical(const Evidence& e) {
  if (e.fact(&Facts::only_critical) == 0) return std::nullopt;
  return row(e, HealthId::Q16, HealthClass::A,
             "The file has only the events of a critical path: an overlay left out the others.",
             "every time, count and saving", "Ask the recording from which the copy was made.");
}

const char* how_full(trace::Full::Limit limit) {
  switch (limit) {
    case trace::Full::Limit::disk:
      return "The disk was full";
    case trace::Full::Limit::file_size:
      return "The program's limit of file sizes was reached";
    case trace::Full::Limit::access:
      return "The program could not open its recording any more";
    case trace::Full::Limit::recording:
      break;
  }
  return "The recording was full";
}

const char* more_room(trace::Full::Limit limit) {
  switch (limit) {
    case trace::Full::Limit::disk:
      return "Record to another disk.";
    case trace::Full::Limit::file_size:
      return "Raise the limit before you record: ulimit -f unlimited.";
    case trace::Full::Limit::access:
      return "The program changed its root folder, its user or its limit of open files. Start it as that "
             "user, "
             "in that folder or with that limit.";
    case trace::Full::Limit::recording:
      break;
  }
  return "Record fewer steps (stepscope record --steps 10:20), or more at once (--megabytes 1024; in a "
         "program, profile(megabytes=1024)).";
}

std::optional<Health> full(const Evidence& e) {
  const std::int64_t dropped = e.fact(&Facts::dropped);
  if (dropped <= 0) return std::nullopt;
  const auto limit = static_cast<trace::Full::Limit>(e.fact(&Facts::full_limit));
  return row(e, HealthId::Q17, HealthClass::B,
             fmt::format("{} after {}: {} later records are missing, and ops that end later are left out.",
                         how_full(limit), ns(e.fact(&Facts::full_after)), count(dropped)),
             "what happened later", more_room(limit));
}

std::optional<Health> newest(const Evidence& e) {
  const std::int64_t from = e.fact(&Facts::kept_from);
  if (from <= 0) return std::nullopt;
  return row(
      e, HealthId::Q18, HealthClass::C,
      fmt::format("The recording keeps the newest events: those of its first {} were replaced, and ops "
                  "that begin in that time are left out.",
                  ns(from)),
      "what happened before",
      "To keep more, record with a larger limit (--megabytes 1024; in a program, "
      "profile(megabytes=1024)).");
}

/// The snapshot's first fault of one of these kinds; nullptr if it has none.
const analyze::CaptureFault* fault_of(const Evidence& e,
                                      std::initializer_list<analyze::CaptureFault::Kind> kinds) {
  for (const analyze::CaptureFault* fault : e.mine(e.reports().snapshot.summary.faults, "Capture faults"))
    if (std::ranges::find(kinds, fault->kind) != kinds.end()) return fault;
  return nullptr;
}

using Capture = analyze::CaptureFault::Kind;

std::optional<Health> events_dropped(const Evidence& e) {
  const analyze::CaptureFault* fault = fault_of(e, {Capture::dropped});
  if (fault == nullptr) return std::nullopt;
  return row(e, HealthId::Q19, HealthClass::C, fault->what, "what happened before, growth from the start",
             fault->remedy);
}

std::optional<Health> no_history(const Evidence& e) {
  const analyze::CaptureFault* fault = fault_of(e, {Capture::no_events});
  if (fault == nullptr) return std::nullopt;
  return row(e, HealthId::Q20, HealthClass::A, fault->what, "peak, growth, failed allocations",
             fault->remedy);
}

std::optional<Health> doubtful_levels(const Evidence& e) {
  const analyze::CaptureFault* fault = fault_of(e, {Capture::wrong, Capture::no_stacks});
  if (fault == nullptr) return std::nullopt;
  return row(e, HealthId::Q21, HealthClass::B, fault->what,
             fault->kind == Capture::no_stacks ? "whose line allocated" : "levels and the peak",
             fault->remedy);
}

/// A program that reads files before its first step, for longer than all steps take.
std::optional<Health> long_start(const Evidence& e) {
  constexpr std::int64_t kLong = 1'000'000'000;
  const auto all = e.mine(e.reports().files.overlap, "I/O and compute");
  if (all.empty() || all.front()->earlier_io < std::max(kLong, all.front()->window)) return std::nullopt;
  const analyze::IoOverlap& io = *all.front();
  return row(
      e, HealthId::Q22, HealthClass::C,
      fmt::format(
          "Before the first recorded step, {} are file I/O, more than all steps take: {} calls, most on {}.",
          ns(io.earlier_io), count(io.earlier_calls), io.earlier_group),
      "how long the program takes to start, which no finding is about",
      "List and check files once and keep the result, e.g. an index in one file; or do it while the first "
      "steps run.");
}

constexpr bool is_of_files(HealthId id) {
  return id == HealthId::Q07 || id == HealthId::Q17 || id == HealthId::Q18;
}
constexpr bool is_of_snapshots(HealthId id) {
  return (id >= HealthId::Q19 && id <= HealthId::Q21) || id == HealthId::Q07;
}

constexpr HealthRule kHealthRules[] = {
    {HealthId::Q01, "no warm-up before the recorded steps", no_warm_up},
    {HealthId::Q02, "launches without device events", launches_without_device},
    {HealthId::Q03, "device events without launches", device_without_launch},
    {HealthId::Q04, "device records are missing", blind_wait},
    {HealthId::Q05, "the profiler's own cost is visible", profiler_cost},
    {HealthId::Q06, "too few steps", few_steps},
    {HealthId::Q07, "the file is damaged", damaged},
    {HealthId::Q08, "the source cannot be named", no_source},
    {HealthId::Q09, "host and device clocks disagree", clocks},
    {HealthId::Q10, "no device activity", no_device},
    {HealthId::Q11, "the device lags behind the last step", device_lags},
    {HealthId::Q12, "nothing is recorded for most of the window", unseen},
    {HealthId::Q13, "a mode that serialises kernels", serialised},
    {HealthId::Q14, "shapes are absent", no_shapes},
    {HealthId::Q15, "unknown categories", foreign},
    {HealthId::Q16, "a copy that holds only a critical path", only_critical},
    {HealthId::Q17, "the recording was full", full},
    {HealthId::Q18, "only the newest events are kept", newest},
    {HealthId::Q19, "a memory snapshot without its first events", events_dropped},
    {HealthId::Q20, "a memory snapshot without events", no_history},
    {HealthId::Q21, "a memory snapshot whose events or stacks are missing", doubtful_levels},
    {HealthId::Q22, "more file I/O before the steps than they take", long_start},
};

}  // namespace

std::int64_t device_rows(const Evidence& e) {
  return e.fact(&Facts::kernels) + e.fact(&Facts::copies) + e.fact(&Facts::fills);
}

std::span<const HealthRule> health_rules() { return kHealthRules; }

double recording_share(const Evidence& e) {
  constexpr double kVisible = 0.05;
  const double share = ratio(e.fact(&Facts::profiler), e.fact(&Facts::host_span));
  return share >= kVisible ? share : 0;
}

std::vector<Health> check_health(const Evidence& evidence) {
  std::vector<Health> rows;
  const bool snapshot_alone = evidence.snapshot_alone(), files_alone = evidence.files_alone();
  for (const HealthRule& rule : health_rules()) {
    if (snapshot_alone && !is_of_snapshots(rule.id)) continue;
    if (files_alone && !is_of_files(rule.id)) continue;
    if (auto health = rule.check(evidence)) rows.push_back(std::move(*health));
  }
  const auto copy =
      std::find_if(rows.begin(), rows.end(), [](const Health& row) { return row.id == HealthId::Q16; });
  if (copy != rows.end()) return {*copy};  // what the copy lacks is no flaw of the recording
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Health& a, const Health& b) { return a.grade < b.grade; });
  return rows;
}

Permission permission_of(const std::vector<Health>& health) {
  Permission permission;
  for (const Health& row : health) {
    permission.rules &= row.id != HealthId::Q16;
    if (row.grade == HealthClass::A && row.id == HealthId::Q12)
      permission.host = false;
    else if (row.grade == HealthClass::A)
      permission.device &= row.id == HealthId::Q20;
    if (row.id == HealthId::Q05 && row.grade == HealthClass::B) ++permission.doubt;
    if (row.id == HealthId::Q02 || row.id == HealthId::Q06) permission.doubt += row.grade == HealthClass::B;
  }
  return permission;
}

}  // namespace stepscope::advise
