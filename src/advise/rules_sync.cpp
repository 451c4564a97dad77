// Rules of synchronisation (S): the host waits and the queue drains.
#include <fmt/format.h>

#include "advise/cite.h"
#include "advise/constants.h"
#include "advise/families.h"
#include "advise/say.h"

namespace stepscope::advise {
namespace {

std::optional<Finding> blocking(const Evidence& e, Bound) {
  const std::int64_t cost = e.idle("sync") + e.idle("refill");
  if (e.share(cost) < kSyncShare) return std::nullopt;
  const std::optional<WaitingCall> wait = dearest_wait(e);
  Finding f = finding(
      e, "S01", "sync",
      fmt::format("{} of {} per step: {} the device's queue", ns(cost / e.steps()), ns(e.step_length()),
                  wait ? wait->what + wait->where + " drains" : "blocking calls drain"));
  save(f, cost / e.steps(), kSyncPessimism, 1.0);
  change(f, "sync=0", kSyncPessimism);
  f.confidence = Confidence::medium;
  f.because = "the device is idle inside these calls and after them until the next launch";
  f.evidence = fmt::format("{}idle: causes sync and refill, {} in the window",
                           wait ? "synchronizations: " + wait->detail + "; " : "", ns(cost));
  f.remedy =
      wait ? wait->remedy
           : "Keep values on the device: drop .item(), .cpu(), nonzero and print in the step, or do them "
             "once every N steps; copy with non_blocking=True from pinned memory.";
  f.verify = "`stepscope show synchronizations` no longer lists the call with a cost.";
  f.effort = Effort::one_line;
  return f;
}

constexpr Rule kRules[] = {
    {"S01", "sync", "blocking calls drain the queue", true, blocking},
};

}  // namespace

std::span<const Rule> sync_rules() { return kRules; }

}  // namespace stepscope::advise
