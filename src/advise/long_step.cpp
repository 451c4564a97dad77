#include "advise/long_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "advise/collective_facts.h"
#include "advise/say.h"
#include "analyze/steps/long_steps.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using analyze::StepRole;
using analyze::StepTime;
using report::kNoInt;

struct Part {
  StepRole role;
  const char* phrase;
  bool of_host = false;
};
constexpr std::array kParts = {Part{StepRole::kernel, "compute kernels"},
                               Part{StepRole::communication, "communication that nothing hides"},
                               Part{StepRole::memcpy, "copies that nothing hides"},
                               Part{StepRole::runtime, "runtime calls", true},
                               Part{StepRole::data_loader, "waiting for data", true},
                               Part{StepRole::cpu_exec, "operators and Python", true},
                               Part{StepRole::other, "time with nothing recorded"}};

/// Names the part of `outlier` that grew most against its median over the steps.
void find_growth(LongStep& of, const StepTime& outlier, const std::vector<const StepTime*>& steps,
                 bool device) {
  of.role = StepRole::other;
  of.grown = "no single part of it grew";
  std::int64_t most = 0;
  for (const Part& part : kParts) {
    std::vector<std::int64_t> usual;
    for (const StepTime* step : steps) usual.push_back(step->part(part.role));
    const std::int64_t growth = outlier.part(part.role) - report::quantile(usual, 0.5);
    if (growth <= most) continue;
    most = growth;
    of.role = part.role;
    of.grown =
        fmt::format("{}{} grew by {}", part.phrase, part.of_host && device ? " while the device is idle" : "",
                    ns(std::min(most, of.length - of.median)));
  }
}

const analyze::SlowRank* late_in(const Evidence& e, std::int64_t step) {
  const analyze::SlowRank* found = nullptr;
  for (const analyze::SlowRank& slow : e.reports().job->stragglers.slow)
    if (slow.step == step && (found == nullptr || slow.excess > found->excess)) found = &slow;
  return found;
}

}  // namespace

std::optional<LongStep> longest_step(const Evidence& e, bool device) {
  if (const analyze::RankApart* apart = rank_apart(e); apart != nullptr && apart->jumps) return std::nullopt;
  std::vector<const StepTime*> steps;
  std::vector<std::int64_t> lengths;
  for (const StepTime* step : e.mine(e.reports().steps.steps, "Step time by what the time went to"))
    if (const std::int64_t length = step->length(device); length != kNoInt) {
      steps.push_back(step);
      lengths.push_back(length);
    }
  const std::int64_t usual = analyze::longest_usual(lengths);
  if (usual == kNoInt) return std::nullopt;
  std::vector<std::int64_t> reordered = lengths;
  LongStep found;
  found.median = report::quantile(reordered, 0.5);
  const StepTime* longest = nullptr;
  for (std::size_t i = 1; i + 1 < steps.size(); ++i) {
    if (lengths[i] <= usual) continue;
    report::add_to(found.beyond, lengths[i] - found.median);
    if (lengths[i] <= found.length) continue;
    found.length = lengths[i];
    longest = steps[i];
  }
  if (longest == nullptr) return std::nullopt;
  found.beyond /= std::ssize(steps);
  found.name = longest->name();
  found.number = longest->number;
  found.at = {longest->host_start, longest->host_end - longest->host_start};
  found.late = late_in(e, longest->number);
  find_growth(found, *longest, steps, device);
  return found;
}

bool only_waited(const LongStep& step, std::int64_t rank) {
  return step.late != nullptr && step.late->rank != rank && step.role == StepRole::communication;
}

std::string why_longer(const LongStep& step, std::int64_t rank) {
  if (step.late != nullptr && step.late->rank == rank) return step.grown + ", and the other ranks waited";
  if (!only_waited(step, rank)) return step.grown;
  return fmt::format("{}, as rank {} took {} longer, for {}", step.grown, step.late->rank,
                     ns(step.late->excess), work_of(step.late->part));
}

}  // namespace stepscope::advise
