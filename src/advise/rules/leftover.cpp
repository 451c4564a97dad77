// Rules of large costs that no other rule explains (H15, H16, H17). They name the place; no
// change is known.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "advise/own_places.h"
#include "advise/places.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/rules/on_cpu.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/units.h"

namespace stepscope::advise {
namespace {

std::optional<Claim> host_left(const Evidence& e, Bound bound) {
  if (bound == Bound::host_only) return std::nullopt;
  std::int64_t cost = 0;
  for (const IdleCause cause : kLateCauses) cost += e.idle(cause);
  if (e.share(cost) < kHole) return std::nullopt;
  const std::vector<Place> places = places_of(e, [](const Place& p) {
    return std::find(std::begin(kLateCauses), std::end(kLateCauses), p.cause) != std::end(kLateCauses);
  });
  const std::string where = places.empty() ? "" : places.front().spoken();
  const auto line = where.empty() ? dearest_place(e, &analyze::LineNode::total) : std::nullopt;
  const std::string sampled =
      line ? fmt::format("; the main thread is {} in {}{}{}", ns(line->cost / e.steps()), line->quoted(),
                         line->called_by(), line->rest(e.steps()))
           : "";
  Claim f = claim(e, RuleId::H15,
                  fmt::format("For {} the device idles because the host is late{}{}", of_step(e, cost),
                              where.empty() ? "" : ", mostly in " + where, sampled));
  f.confidence = Confidence::low;
  f.because = line ? "samples of the stack name the lines; which of them the device waits for is not in "
                     "the file"
              : where.empty() ? "the file does not say where the host was"
                              : "the place is recorded; what it is needed for is not";
  f.evidence = {see::idle(per_step(e, cost))};
  const std::string place = line ? line->spoken() : where;
  f.remedy = 2 * e.idle(IdleCause::op) > cost
                 ? "Fewer operators for the same work: a larger batch, torch.compile(model), fused modules."
             : place.empty() ? "Record with with_stack=True: the report then names the line."
                             : fmt::format("Check whether every step needs {}.", place);
  f.verify = "A smaller share of these causes in `stepscope show idle`.";
  f.effort = Effort::code;
  return f;
}

/// The rank's phase, if only a CPU works and it takes kHole of the window; otherwise nullptr.
const analyze::PhaseTime* large_phase(const Evidence& e, Bound bound, analyze::Phase phase) {
  if (bound != Bound::host_only || !computes_on_cpu(e)) return nullptr;
  for (const analyze::PhaseTime* of : e.mine(e.reports().phases.phases, "Phases"))
    if (of->phase == phase && of->share >= kHole) return of;
  return nullptr;
}

/// The three dearest lines of other threads that do not wait, if the first holds kHole of the window.
std::vector<const analyze::WorkerLine*> lines_of_other_threads(const Evidence& e) {
  constexpr std::size_t kMost = 3;
  std::vector<const analyze::WorkerLine*> lines;
  for (const analyze::WorkerLine* line :
       e.mine(e.reports().lines.elsewhere.threads, "Lines of other threads"))
    if (lines.size() < kMost && !analyze::waits(line->calls, line->text)) lines.push_back(line);
  if (!lines.empty() && lines.front()->share < kHole) lines.clear();
  return lines;
}

std::optional<Claim> own_code_left(const Evidence& e, Bound bound) {
  const analyze::PhaseTime* own = large_phase(e, bound, analyze::Phase::other);
  if (own == nullptr) return std::nullopt;
  const auto place = dearest_place(e, &analyze::LineNode::besides);
  const auto others = place ? std::vector<const analyze::WorkerLine*>{} : lines_of_other_threads(e);
  std::string where = "the file does not say which";
  if (place)
    where = fmt::format("most, {}, in {}{}{}", ns(place->cost / e.steps()), place->quoted(),
                        place->called_by(), place->rest(e.steps()));
  for (const analyze::WorkerLine* line : others)
    where = fmt::format("{} {} in {}", line == others.front() ? "other threads spend" : where + ",",
                        ns(line->self / e.steps()), quoted_line(line->line, line->text));
  Claim f =
      claim(e, RuleId::H16, fmt::format("{} are the program's own code: {}", of_step(e, own->time), where));
  f.confidence = Confidence::low;
  f.because = place             ? "samples of the stack name the lines; none holds a tenth of the step"
              : !others.empty() ? "stacks name the line; other threads than the one with most operators work"
                                : "no Python stacks of the main thread are recorded";
  f.evidence = {see::phases("other, " + per_step(e, own->time))};
  f.remedy =
      place ? fmt::format("Check whether every step needs {} and the lines that call it.", place->spoken())
      : !others.empty()
          ? fmt::format(
                "At {}: compute once what does not change, and replace Python loops by one operation on all "
                "elements. Threads take turns in Python; processes do not.",
                placed(others.front()->line))
          : "Record with `stepscope record -- python ...`, or with_stack=True: the report then names the "
            "line.";
  f.verify = "A smaller phase other in `stepscope show phases`.";
  f.effort = Effort::code;
  return f;
}

std::optional<Claim> optimizer_left(const Evidence& e, Bound bound) {
  const analyze::PhaseTime* own = large_phase(e, bound, analyze::Phase::optimizer);
  if (own == nullptr || own->ops <= 0) return std::nullopt;
  Claim f = claim(
      e, RuleId::H17,
      fmt::format("The optimizer takes {} in {} operators: it rewrites all parameters", of_step(e, own->time),
                  report::format_value(own->ops / e.steps(), report::Unit::count)));
  f.confidence = Confidence::low;
  f.because = "its operators are few or long; whether fewer parameters would do is not in the file";
  f.evidence = {see::phases("optimizer, " + per_step(e, own->time))};
  f.remedy =
      "A larger batch makes the optimizer's part smaller; fused=True reads each parameter once; fewer "
      "parameters, or a "
      "smaller type, make it faster.";
  f.verify = "A smaller phase optimizer in `stepscope show phases`.";
  return f;
}

constexpr Rule kLeftoverRules[] = {
    {RuleId::H15, "the host is late, and no rule knows a change", true, host_left,
     R"(Looks at: `idle`, causes `launch`, `runtime`, `op`, `python`, `annotation` and `untraced`. Fires if they take kHole
of the window and no rule of launches, loops, Python, pauses or graphs fires. Names the place that holds most of it, or the line
that most samples of the main thread are in.

Saving: none is estimated.)"},
    {RuleId::H16, "the program's own code takes long, and no line of it holds a tenth of the step", false,
     own_code_left,
     R"(Looks at: `phases`, other, where no device works. Fires if it takes kHole of the window and no rule of lines, loops,
compilation, pauses or waits for other ranks fires. Without a line of the main thread, names that of another thread that holds
kHole of the window and does not wait.

Saving: none is estimated.)"},
    {RuleId::H17, "the optimizer takes long, and no rule knows a change", false, optimizer_left,
     R"(Looks at: `phases`, optimizer, where no device works. Fires if it takes kHole of the window and no rule of the
optimizer fires.

Saving: none is estimated.)"},
};

}  // namespace

std::span<const Rule> leftover_rules() { return kLeftoverRules; }

}  // namespace stepscope::advise
