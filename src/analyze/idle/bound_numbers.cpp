#include "analyze/idle/bound_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {
namespace {

using derive::IdleCause;
using derive::Owner;
using report::kNoInt;
using timeline::Interval;
using trace::Rank;
using trace::Row;

std::string percent(double share) { return report::format_value(share, report::Unit::share); }

void add_owners(BoundNumbers& numbers, const std::vector<derive::OwnerTimes>& owners) {
  std::array<std::int64_t, derive::kIdleCauses> late{};
  for (const derive::OwnerTimes& of : owners) {
    report::add_to(numbers.exposed_communication, of.owned[static_cast<std::size_t>(Owner::communication)]);
    report::add_to(numbers.idle, of.owned[static_cast<std::size_t>(Owner::idle)]);
    for (std::size_t cause = 0; cause < late.size(); ++cause)
      if (static_cast<IdleCause>(cause) != IdleCause::pending) report::add_to(late[cause], of.idle[cause]);
  }
  const auto devices = std::max<std::int64_t>(1, static_cast<std::int64_t>(owners.size()));
  for (std::size_t cause = 0; cause < late.size(); ++cause) {
    report::add_to(numbers.late, late[cause]);
    if (late[cause] <= numbers.largest_time) continue;
    numbers.largest_time = late[cause];
    numbers.largest = static_cast<IdleCause>(cause);
  }
  for (std::int64_t* sum :
       {&numbers.idle, &numbers.late, &numbers.largest_time, &numbers.exposed_communication})
    *sum /= devices;
}

/// Median, over consecutive steps, of the difference of their median launch delays.
std::int64_t lag_growth(const Rank& rank, const std::vector<bool>& counted,
                        const derive::LaunchQueue& queue) {
  std::vector<std::vector<std::int64_t>> delays(rank.steps.size());
  for (std::size_t i = 0; i < queue.size(); ++i)
    if (const std::int32_t step = rank.events.step[queue.event[i]]; step >= 0)
      delays[static_cast<std::size_t>(step)].push_back(queue.delay[i]);
  std::vector<std::int64_t> growth;
  std::int64_t previous = kNoInt;
  for (std::size_t step = 0; step < delays.size(); ++step) {
    if (!counted[step] || delays[step].empty()) continue;
    const std::int64_t lag = report::quantile(delays[step], 0.5);
    if (previous != kNoInt) growth.push_back(lag - previous);
    previous = lag;
  }
  return report::quantile(growth, 0.5);
}

/// Idle time in which work was launched and started as soon as its launch arrived. A host that launches work
/// one by one onto an idle device pays it for each launch. Mean over devices.
std::int64_t latency_of(const Derived& derived, const Rank& rank, const TypicalSteps& typical,
                        std::size_t devices) {
  const std::vector<bool> prompt = derive::prompt_events(derived.queue(rank), rank.events.size());
  std::int64_t latency = 0;
  for (const derive::IdlePiece& piece : derived.idle(rank))
    if (piece.cause == IdleCause::pending && piece.ender != trace::kNoRow && prompt[piece.ender])
      report::add_to(latency, typical.spans.length_in(piece.span));
  return latency / std::max<std::int64_t>(1, static_cast<std::int64_t>(devices));
}

double prompt_share(const Rank& rank, const StepChoice& choice, const derive::LaunchQueue& queue) {
  std::int64_t kernels = 0, prompt = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (rank.events.kind[queue.event[i]] != trace::Kind::kernel || !choice.includes(rank, queue.event[i]))
      continue;
    ++kernels;
    prompt += queue.delay[i] <= derive::kPromptDelay;
  }
  return report::ratio(prompt, kernels);
}

}  // namespace

double BoundNumbers::share(std::int64_t part) const {
  return window > 0 ? static_cast<double>(part) / static_cast<double>(window) : 0;
}

BoundNumbers bound_numbers(const Derived& derived, const Rank& rank, const TypicalSteps& typical,
                           const std::vector<derive::OwnerTimes>& owners) {
  BoundNumbers numbers;
  numbers.window = typical.spans.length();
  const std::vector<bool>& counted = typical.counted;
  numbers.steps = std::max<std::int64_t>(1, std::count(counted.begin(), counted.end(), true));
  numbers.step = typical.median;
  add_owners(numbers, owners);
  numbers.busy = numbers.window - numbers.idle;
  numbers.latency = latency_of(derived, rank, typical, owners.size());
  const derive::LaunchQueue& queue = derived.queue(rank);
  const std::vector<derive::Waiting>& waiting = derived.waits(rank);
  const auto in_step = [&](Row row) {
    const std::int32_t step = rank.events.step[row];
    return step >= 0 && counted[static_cast<std::size_t>(step)];
  };
  Column<Interval> blocked;
  for (Row row = 0; row < rank.events.size(); ++row)
    if (waiting[row] != derive::Waiting::no && in_step(row))
      blocked.push_back({rank.events.start[row], rank.events.end[row]});
  numbers.blocked = intersect(timeline::IntervalSet::of(std::move(blocked)), typical.spans).length();
  numbers.lag_growth = lag_growth(rank, counted, queue);
  numbers.prompt = prompt_share(rank, derived.choice(), queue);
  return numbers;
}

std::string_view name_of(Limit limit) {
  constexpr std::string_view kNames[] = {"unknown", "host-bound", "communication-bound", "device-bound",
                                         "mixed"};
  return kNames[static_cast<std::size_t>(limit)];
}

BoundWord bound_word(const BoundNumbers& n) {
  const double late = n.share(n.late), latency = n.share(n.latency), blocked = n.share(n.blocked),
               idle = n.share(n.idle), exposed = n.share(n.exposed_communication);
  const double growth = n.lag_growth == kNoInt || n.step == kNoInt ? 0 : report::ratio(n.lag_growth, n.step);
  if (late + latency >= 0.15 && blocked <= 0.05)
    return {Limit::host,
            fmt::format("the device idles {} of the window before work is launched (largest cause: `{}`) and "
                        "{} in launch latency on an empty queue; the host waits for the device only {}",
                        percent(late), name_of(n.largest), percent(latency), percent(blocked))};
  if (exposed >= 0.10)
    return {Limit::communication,
            fmt::format("only communication runs in {} of the window", percent(exposed))};
  if (idle <= 0.10)
    return {Limit::device, fmt::format("the device idles only {} of the window", percent(idle))};
  if (blocked >= 0.10 && late <= 0.05)
    return {Limit::device, fmt::format("the host waits for the device {} of the window, and the device "
                                       "idles for lack of work only {}",
                                       percent(blocked), percent(late))};
  if (growth >= 0.02)
    return {Limit::device,
            fmt::format("the host's lead grows by {} of a step in each step", percent(growth))};
  return {Limit::mixed, fmt::format("no limit dominates: late {}, blocked {}, only communication {}, idle {}",
                                    percent(late), percent(blocked), percent(exposed), percent(idle))};
}

}  // namespace stepscope::analyze
