// Rules of synchronisation (S): the host waits and the queue drains. Idle time in and after a wait counts,
// not the wait's length.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "advise/cite.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Unit;

/// The rank's waits of one kind. `cost`: the rank's idle time in and after these waits, ns in the window.
struct Waits {
  std::vector<WaitingCall> calls;
  std::int64_t cost = 0, count = 0, bytes = 0;
};

Waits waits_of_kind(const Evidence& e, WaitKind kind) {
  Waits waits;
  double all = 0, own = 0;
  for (const WaitingCall& call : waits_of(e)) {
    all += static_cast<double>(call.cost);
    if (call.kind != kind) continue;
    own += static_cast<double>(call.cost);
    waits.count += call.count;
    report::add_to(waits.bytes, call.bytes);
    waits.calls.push_back(call);
  }
  const auto idle = static_cast<double>(e.idle(IdleCause::sync) + e.idle(IdleCause::refill));
  if (all > 0) waits.cost = static_cast<std::int64_t>(own * std::min(1.0, idle / all));
  return waits;
}

/// Removes these waits: the operators that wait, or the calls if no operator does. `what` selects the part of
/// an operator that goes: `host` is its time; `waiting` is also what it launched and the operator that calls
/// it.
void without(Claim& f, const Waits& waits, Scale::What what) {
  f.pessimism = kSyncPessimism;
  for (const WaitingCall& call : waits.calls)
    f.ideal.push_back(call.op.empty() ? scale_of(Scale::What::host, call.call, 0)
                                      : scale_of(what, call.op, 0));
}

Claim wait_claim(const Evidence& e, RuleId id, const Waits& waits, std::string title) {
  const WaitingCall& dearest = waits.calls.front();
  Claim f = claim(e, id, std::move(title));
  save(f, waits.cost / e.steps(), kSyncPessimism, 1.0);
  f.confidence = dearest.where.empty() ? Confidence::medium : Confidence::high;
  f.because = fmt::format("the device is idle inside these calls and then until device work starts{}",
                          dearest.where.empty() ? "" : ", and the line is recorded");
  f.evidence = {see::synchronizations(dearest.detail),
                see::idle(fmt::format("causes sync and refill, {}", per_step(e, waits.cost)))};
  f.at = longest_idle_moment(e, IdleCause::sync);
  f.remedy = dearest.remedy;
  f.verify = "`stepscope show synchronizations` no longer lists the call with a cost.";
  f.effort = Effort::one_line;
  return f;
}

/// "once", "30 times".
std::string often(std::int64_t count) {
  return count <= 1 ? "once" : format_value(count, Unit::count) + " times";
}

std::optional<Claim> scalar_read(const Evidence& e, Bound) {
  const Waits waits = waits_of_kind(e, WaitKind::scalar);
  const bool many = waits.count >= kManyWaits * e.steps();
  if (waits.calls.empty() || (!many && e.share(waits.cost) < kScalarShare)) return std::nullopt;
  const WaitingCall& dearest = waits.calls.front();
  Claim f = wait_claim(
      e, RuleId::S01, waits,
      fmt::format("{}: the host reads a value from the device {} per step; "
                  "{}{} drains the device's queue",
                  of_step(e, waits.cost), often(waits.count / e.steps()), dearest.what, dearest.where));
  without(f, waits, Scale::What::waiting);
  if (many && e.share(waits.cost) >= kScalarShare && dearest.where.empty()) {
    f.confidence = Confidence::high;
    f.because += ", as often as a model has layers";
  }
  return f;
}

/// Another kind of wait has the same name: removing ranges of that name would remove those waits too.
bool shares_names(const Evidence& e, const Waits& waits, WaitKind kind) {
  const auto name = [](const WaitingCall& call) {  // ops and calls are separate namespaces
    return std::pair<bool, std::string_view>(call.op.empty(), call.op.empty() ? call.call : call.op);
  };
  std::set<std::pair<bool, std::string_view>> own;
  for (const WaitingCall& call : waits.calls) own.insert(name(call));
  const std::vector<WaitingCall> all = waits_of(e);
  return std::any_of(all.begin(), all.end(), [&](const WaitingCall& other) {
    return other.kind != kind && (own.contains({false, other.op}) || own.contains({true, other.call}));
  });
}

std::optional<Claim> explicit_wait(const Evidence& e, Bound) {
  const Waits waits = waits_of_kind(e, WaitKind::asked);
  if (waits.calls.empty() || waits.count < e.steps() || e.share(waits.cost) < kSyncShare) return std::nullopt;
  const WaitingCall& dearest = waits.calls.front();
  Claim f = wait_claim(e, RuleId::S02, waits,
                       fmt::format("For {} the device idles in and after {}{}", of_step(e, waits.cost),
                                   dearest.what, dearest.where));
  if (!shares_names(e, waits, WaitKind::asked)) without(f, waits, Scale::What::host);
  return f;
}

std::optional<Claim> size_wait(const Evidence& e, Bound) {
  const Waits waits = waits_of_kind(e, WaitKind::shape);
  const bool many = waits.count >= kManyWaits * e.steps();
  if (waits.calls.empty() || (!many && e.share(waits.cost) < kShapeShare)) return std::nullopt;
  const WaitingCall& dearest = waits.calls.front();
  Claim f =
      wait_claim(e, RuleId::S03, waits,
                 fmt::format("{}: {}{} needs the size of its result on the host, {} waits per step",
                             of_step(e, waits.cost), dearest.what, dearest.where,
                             format_value(std::max<std::int64_t>(1, waits.count / e.steps()), Unit::count)));
  without(f, waits, Scale::What::waiting);
  f.confidence = Confidence::medium;
  f.effort = Effort::code;
  return f;
}

std::optional<Claim> copy_to_host(const Evidence& e, Bound) {
  const Waits waits = waits_of_kind(e, WaitKind::to_host);
  const bool large = waits.bytes >= kToHostBytes * e.steps() || waits.count >= kManyWaits * e.steps();
  if (waits.calls.empty() || !large || e.share(waits.cost) < kToHostShare) return std::nullopt;
  Claim f = wait_claim(e, RuleId::S04, waits,
                       fmt::format("For {} the device idles in and after copies to the host{} ({} per step)",
                                   of_step(e, waits.cost), waits.calls.front().where,
                                   format_value(waits.bytes / e.steps(), Unit::bytes)));
  if (!shares_names(e, waits, WaitKind::to_host)) without(f, waits, Scale::What::host);
  f.confidence = Confidence::medium;
  return f;
}

constexpr Rule kSyncRules[] = {
    {RuleId::S01, "the host reads values from the device", true, scalar_read,
     R"(Looks at: `synchronizations`, rows whose op is `item`, `_local_scalar_dense`, `is_nonzero` or `equal`:
their `cost`, idle time in the wait and then until device work starts. Fires when the cost of these waits is
at least kScalarShare of the window, or with at least kManyWaits of them per step: so many keep the host from
getting ahead again, at a cost that only replay shows.

Saving: replay without these operators and what they launch; the low end is kSyncPessimism of it, as some
reads stay. Confidence is high if the line is recorded, or if the waits reach both limits.

Silent on: long waits for a device that works, which cost nothing; one read per step for logging.)"},
    {RuleId::S02, "the program synchronizes with the device", true, explicit_wait,
     R"(Looks at: `synchronizations`, rows that are neither reads of values, nor waits for sizes, nor copies:
explicit synchronisation of streams, events and devices, at least once per step. Fires when the `cost` of
these waits is at least kSyncShare of the window.

Saving: replay without these calls; if others share the call, these waits' cost. The low end is
kSyncPessimism of it.

Silent on: the one synchronize that ends a recording; waits while the device works.)"},
    {RuleId::S03, "the size of a result is needed on the host", true, size_wait,
     R"(Looks at: `synchronizations`, rows whose op is `nonzero`, `index`, `masked_select`, `unique…` or
`repeat_interleave`. Fires when the `cost` of these waits is at least kShapeShare of the window or, as S01
does, with at least kManyWaits waits per step.

Saving: replay without these operators, the comparisons that make their masks, and what both launch; the low
end is kSyncPessimism of it.

Silent on: the same operators while the device has work queued.)"},
    {RuleId::S04, "copies of results to the host wait for the device", true, copy_to_host,
     R"(Looks at: `synchronizations`, rows whose `copy` goes to the host and whose op is not one of S01 or S03. Fires
when the `cost` of these waits is at least kToHostShare of the window, and they move at least kToHostBytes or
are at least kManyWaits per step.

Saving: replay without these operators; if others share them (copies to the device do), these waits' cost. The
low end is kSyncPessimism of it.

Silent on: copies that wait while the device works: 53 ms of such waits in a recorded step cost nothing.)"},
};

}  // namespace

std::span<const Rule> sync_rules() { return kSyncRules; }

}  // namespace stepscope::advise
