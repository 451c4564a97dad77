#include "advise/bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "advise/collective_facts.h"
#include "advise/long_step.h"
#include "advise/memory_facts.h"
#include "advise/rules/constants.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/names.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Unit;

constexpr std::int64_t kMinEvents = 20;
constexpr std::int64_t kMinWork = 1'000'000;  // ns
constexpr double kNamedPhase = 0.05;          // share of the step from which a phase is named

struct CausePhrase {
  IdleCause cause;
  std::string_view phrase;
};
constexpr std::array kPhrases = {
    CausePhrase{IdleCause::input, "while the host waits for the data loader"},
    CausePhrase{IdleCause::sync, "while the host is in blocking calls"},
    CausePhrase{IdleCause::refill, "while the queue refills after blocking calls"},
    CausePhrase{IdleCause::alloc, "while memory is allocated or freed"},
    CausePhrase{IdleCause::launch, "while the host launches kernels one by one"},
    CausePhrase{IdleCause::runtime, "while the host is in runtime calls"},
    CausePhrase{IdleCause::io, "while the host reads or writes files"},
    CausePhrase{IdleCause::op, "while the host runs framework operators"},
    CausePhrase{IdleCause::python, "while the host runs Python"},
    CausePhrase{IdleCause::annotation, "while the host is in user ranges without recorded operators"},
    CausePhrase{IdleCause::untraced, "while nothing is recorded on the launching threads"},
};

std::string uncapitalised(std::string text) {
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

/// Device times of the typical step: those of `ledger`, and its length, ns.
struct TypicalStep {
  std::int64_t length = 0, busy = 0, idle = 0, communication = 0, late = 0;
  IdleCause cause{};  ///< the largest part of `idle` but `pending`: `late`
};

TypicalStep typical_step(const Evidence& e) {
  const analyze::BoundNumbers* of = e.bound_numbers();
  if (of == nullptr) return {.length = e.step_length()};
  return {of->window / of->steps,       of->busy / of->steps,
          of->idle / of->steps,         of->exposed_communication / of->steps,
          of->largest_time / of->steps, of->largest};
}

std::string share_of(std::int64_t part, const TypicalStep& step) {
  return percent(report::ratio(part, step.length));
}

std::string per_step(const Evidence& e) {
  return e.fact(&Facts::complete_steps) > 0 ? fmt::format("each {} step", ns(typical_step(e).length))
                                            : fmt::format("the recorded {}", ns(e.window()));
}

/// For a step that the device limits: its largest compute kernel and the use of matrix units.
std::string limit(const Evidence& e) {
  std::string text;
  std::int64_t sum = 0;
  const analyze::KernelTimes* top = nullptr;
  for (const analyze::KernelTimes* row : e.mine(e.reports().kernels.kernels, "Kernels by name")) {
    sum += row->total;
    if (!row->communication && (top == nullptr || row->total > top->total)) top = row;
  }
  if (top != nullptr && top->total > 0)
    text += fmt::format(" The largest compute kernel, {}, takes {} of kernel time",
                        report::short_name(top->name, 48),
                        percent(static_cast<double>(top->total) / static_cast<double>(sum)));
  if (text.empty()) return text;
  for (const analyze::DeviceUse* row : e.mine(e.reports().devices.devices, "Devices"))
    if (row->tensor_cores >= 0 && row->unknown_cores < 0.5)
      return text +
             fmt::format("; kernels on matrix units take {} of compute time.", percent(row->tensor_cores));
  return text + ".";
}

/// "most of it" if it is over half of the idle time, else its share.
std::string most_or_part(const TypicalStep& step) {
  if (step.late * 2 > step.idle) return "most of it";
  return fmt::format("{} of that time",
                     percent(report::ratio(step.late, std::max<std::int64_t>(1, step.idle))));
}

/// The sentence about the step that took longest: " Step 7 took 36.1 ms, the median step 6.20 ms: …"; "" if
/// none took much longer than the others.
std::string longest_step_says(const Evidence& e) {
  const std::optional<LongStep> longest = longest_step(e, true);
  if (!longest) return "";
  return fmt::format(" Step {} took {}, the median step {}: {}.", longest->name, ns(longest->length),
                     ns(longest->median), why_longer(*longest, e.rank()));
}

/// A running collective may also wait: for late ranks or for another stage of a pipeline. The share of
/// waiting is known for all steps together only.
std::string what_communication_is(const Evidence& e) {
  if (const auto* stage = pipeline_stage(e); stage != nullptr && stage->waiting * 2 > stage->bubble)
    return fmt::format("mostly waiting for other stages of the pipeline (the bubble is {} of the step)",
                       percent(stage->bubble_share));
  const std::optional<double> waiting = longest_step(e, true) ? std::nullopt : waiting_share(e);
  if (waiting && *waiting > 0.5)
    return fmt::format("and {} of the time in collectives is waiting for other ranks", percent(*waiting));
  return "with no compute to hide it";
}

/// What the recorded device events prove, however many others are missing.
std::string certain(const Evidence& e, const std::vector<Health>& health) {
  if (health.empty() || health.front().id != HealthId::Q04 || e.fact(&Facts::busy) <= 0) return "";
  const std::int64_t collectives = e.fact(&Facts::communication);
  return fmt::format(
      " Still certain: the device works at least {} of {}{}.", percent(e.share(e.fact(&Facts::busy))),
      per_step(e),
      collectives > 0 ? fmt::format(", collectives take at least {}", percent(e.share(collectives))) : "");
}

/// `trains`: some time is a backward pass.
std::string_view phrase_of(analyze::Phase phase, bool trains) {
  switch (phase) {
    case analyze::Phase::data:
      return "waiting for data";
    case analyze::Phase::backward:
      return "the backward pass";
    case analyze::Phase::optimizer:
      return "the optimizer";
    case analyze::Phase::forward:
      return trains ? "the forward pass" : "operators and modules";
    case analyze::Phase::other:
      return "the program's own code";
  }
  return "";
}

/// The phases of a step on the CPU that take at least a twentieth of it, largest first: "52 % of each 100 ms
/// step is the backward pass, 27 % the forward pass".
std::string phases_of_step(const Evidence& e) {
  std::vector<const analyze::PhaseTime*> phases = e.mine(e.reports().phases.phases, "Phases");
  const bool trains = std::any_of(phases.begin(), phases.end(), [](const auto* p) {
    return p->phase == analyze::Phase::backward && p->time > 0;
  });
  const bool seen = std::any_of(phases.begin(), phases.end(), [](const auto* p) { return p->ops > 0; });
  std::erase_if(phases, [&](const auto* p) {
    return !(p->share >= kNamedPhase) || (p->phase == analyze::Phase::other && !seen);
  });
  std::stable_sort(phases.begin(), phases.end(),
                   [](const auto* a, const auto* b) { return a->time > b->time; });
  std::string text;
  for (const analyze::PhaseTime* phase : phases)
    text += text.empty() ? fmt::format("{} of {} is {}", percent(phase->share), per_step(e),
                                       phrase_of(phase->phase, trains))
                         : fmt::format(", {} {}", percent(phase->share), phrase_of(phase->phase, trains));
  return text;
}

/// "; collectives that nothing hides take 16.5 ms of it", or "".
std::string exposed_collectives(const Evidence& e) {
  const std::int64_t exposed = collectives_on_cpu(e).exposed;
  return e.share(exposed) < kInformedShare
             ? ""
             : fmt::format("; collectives that nothing hides take {} of it", ns(exposed / e.steps()));
}

std::string host_times(const Evidence& e) {
  const std::string phases = phases_of_step(e);
  if (!phases.empty()) return phases + exposed_collectives(e) + ".";
  return fmt::format("{} takes {}.", e.fact(&Facts::complete_steps) > 0 ? "a step" : "the recording",
                     ns(e.step_length()));
}

std::string files_headline(const Evidence& e) {
  const analyze::IoOverlap& all = *e.mine(e.reports().files.overlap, "I/O and compute").front();
  const auto counted = [](std::int64_t number, report::Unit unit) {
    return report::format_value(number, unit);
  };
  return fmt::format("File I/O takes {} of {} ({}): {} calls on {} files, {} read, {} written.", ns(all.io),
                     ns(all.window), percent(report::ratio(all.io, all.window)),
                     counted(all.calls, report::Unit::count), counted(all.files, report::Unit::count),
                     counted(all.read, report::Unit::bytes), counted(all.written, report::Unit::bytes));
}

}  // namespace

report::Proof evidence_of(Bound bound) {
  switch (bound) {
    case Bound::host_only:
      return see::operators("time on the host");
    case Bound::communication:
      return see::kernels("collectives by name");
    case Bound::device:
      return see::kernels("by total time");
    case Bound::memory:
      return see::memory_peak("who held memory at the peak");
    case Bound::files:
      return see::io("calls by kind");
    case Bound::host:
    case Bound::mixed:
      return see::idle("by cause");
    default:
      return see::overview("what was recorded");
  }
}

Bound bound_of(const Evidence& e, const Permission& permission) {
  const std::int64_t events = e.fact(&Facts::kernels) + e.fact(&Facts::copies) + e.fact(&Facts::fills);
  if (!permission.rules) return Bound::unknown;
  if (e.snapshot_alone()) return Bound::memory;
  if (e.files_alone()) return Bound::files;
  if (events == 0) return Bound::host_only;
  if (!permission.device) return Bound::unknown;
  if (events < kMinEvents || e.fact(&Facts::busy) < kMinWork) return Bound::too_little;
  if (!permission.host) return Bound::unknown;
  switch (e.limit()) {
    case analyze::Limit::host:
      return Bound::host;
    case analyze::Limit::communication:
      return Bound::communication;
    case analyze::Limit::device:
      return Bound::device;
    case analyze::Limit::mixed:
      return Bound::mixed;
    case analyze::Limit::unknown:
      break;
  }
  return Bound::unknown;
}

Outcome outcome_of(const Evidence& e, Bound bound, bool found, bool worth) {
  if (bound == Bound::too_little) return Outcome::no_step;
  if (worth || (bound == Bound::memory && found)) return Outcome::findings;
  if (bound == Bound::memory) return knows_history(e) ? Outcome::nothing : Outcome::cannot_tell;
  if (bound == Bound::files) return found ? Outcome::findings : Outcome::cannot_tell;
  if (bound == Bound::unknown || bound == Bound::host_only) return Outcome::cannot_tell;
  const bool enough = e.fact(&Facts::complete_steps) >= kStepsToTrust ||
                      (e.fact(&Facts::complete_steps) <= 1 && e.window() >= kWindowToTrust);
  const bool clean = e.share(e.fact(&Facts::idle)) <= kFineIdle &&
                     e.share(e.fact(&Facts::exposed_communication)) <= kFineCommunication &&
                     e.share(e.fact(&Facts::exposed_copy)) <= kFineCopy;
  return enough && clean && !found ? Outcome::nothing : Outcome::no_fix;
}

std::string closing(const Evidence& e, Outcome outcome) {
  if (outcome != Outcome::nothing && outcome != Outcome::no_fix) return "";
  if (e.snapshot_alone())
    return e.mine(e.reports().snapshot.leaks.compared, "Steps compared").empty()
               ? " No rule found anything wrong, but growth was not checked: the steps of the program are "
                 "not known, or too few."
               : " No rule found anything wrong.";
  struct Rest {
    std::int64_t Facts::* fact;
    const char* phrase;
  };
  constexpr std::array kRests = {Rest{&Facts::idle, "idle time"},
                                 Rest{&Facts::exposed_communication, "communication that nothing hides"},
                                 Rest{&Facts::exposed_copy, "copies that nothing hides"}};
  const Rest* most = &kRests[0];
  for (const Rest& rest : kRests)
    if (e.fact(rest.fact) > e.fact(most->fact)) most = &rest;
  return fmt::format(" {} The largest share besides compute is {}, {}.",
                     outcome == Outcome::nothing
                         ? "No rule found anything wrong."
                         : "No rule found a change that this recording proves worth making.",
                     most->phrase, percent(e.share(e.fact(most->fact))));
}

std::string headline(const Evidence& e, Bound bound, const std::vector<Health>& health, std::int64_t host) {
  const TypicalStep step = typical_step(e);
  std::string_view phrase;
  for (const CausePhrase& known : kPhrases)
    if (step.late > 0 && known.cause == step.cause) phrase = known.phrase;
  const std::string idle = share_of(step.idle, step), busy = share_of(step.busy, step),
                    longest = longest_step_says(e);
  switch (bound) {
    case Bound::unknown:
      return "Cannot tell: " +
             (health.empty() ? std::string("the recording lacks what the verdict needs.")
                             : uncapitalised(health.front().what)) +
             certain(e, health);
    case Bound::too_little:
      return fmt::format(
          "Too little to judge: {} of device work in the recording is not a training or inference step.",
          ns(e.fact(&Facts::busy)));
    case Bound::host_only:
      return (e.without_accelerator() ? std::string("The CPU does all the work: ")
              : !e.unused_accelerator().empty()
                  ? fmt::format("The CPU does all the work, this machine's {} none: ", e.unused_accelerator())
                  : std::string("No device activity is recorded: ")) +
             host_times(e);
    case Bound::host:
      return fmt::format("Host-bound: the device idles {} of {}, {} ({}{}) {}.", idle, per_step(e),
                         most_or_part(step), ns(step.late),
                         e.fact(&Facts::complete_steps) > 0 ? " per step" : "", phrase) +
             longest;
    case Bound::communication:
      return fmt::format("Communication-bound: in {} of {} only communication runs, {}.",
                         share_of(step.communication, step), per_step(e), what_communication_is(e)) +
             longest;
    case Bound::device:
      if (host > 0)
        return fmt::format(
                   "Device-bound, nearly balanced: the device is busy {} of {}, and the host needs {}.{}",
                   busy, per_step(e), ns(host), limit(e)) +
               longest;
      return fmt::format(
                 "Device-bound: the device is busy {} of {}; host work and launches are hidden behind it.{}",
                 busy, per_step(e), limit(e)) +
             longest;
    case Bound::mixed:
      return fmt::format("Mixed: the device is busy {} of {} and idles {}, {} {}.", busy, per_step(e), idle,
                         most_or_part(step), phrase.empty() ? "with work launched but not started" : phrase) +
             longest;
    case Bound::memory:
      return memory_headline(e);
    case Bound::files:
      return files_headline(e);
  }
  return "";
}

}  // namespace stepscope::advise
