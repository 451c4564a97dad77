// Rules of the program's own lines on the CPU (H11, H12).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "advise/own_places.h"
#include "advise/places.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/rules/on_cpu.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/names.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Unit;

/// "; it takes 3.2 times as long at the end of the recording", or "".
std::string grown(const OwnPlace& place) {
  if (place.all == nullptr || !(place.all->growth >= kGrowth)) return "";
  return fmt::format("; at the end of the recording it takes {:.1f} times as long as at the beginning",
                     place.all->growth);
}

/// Whether every rank spends about as long in the line besides the model's steps, in operators.
bool all_ranks_do_it(const Evidence& e, const OwnPlace& place) {
  std::set<std::int64_t> ranks;
  for (const analyze::LineNode& node : e.reports().lines.nodes)
    if (node.line == place.line->line && 2 * node.besides >= place.line->besides) ranks.insert(node.rank);
  return ranks.size() > 1 && ranks.size() == e.reports().overview.ranks.size() &&
         2 * place.line->work > place.line->besides;
}

/// The line's own time in forward, backward and optimizer, ns in the window.
std::int64_t inside_passes(const OwnPlace& place) {
  if (place.what != OwnPlace::What::line || place.all == nullptr) return 0;
  return place.all->in_passes;
}

/// What goes if the line goes, wherever it is called: also in the forward pass, and the backward pass through
/// it; with the listed lines of its function, ns in the window.
std::int64_t with_all_of_the_line(const OwnPlace& place) { return place.in_function + inside_passes(place); }

/// "; inside them another 5.03 ms", or "".
std::string also_inside(const OwnPlace& place, std::int64_t steps) {
  const std::int64_t inside = inside_passes(place);
  return 10 * inside < place.cost ? "" : fmt::format("; inside them another {}", ns(inside / steps));
}

/// Most of the line's time is a wait.
bool waits(const OwnPlace& place) {
  return place.what == OwnPlace::What::line && place.all != nullptr &&
         analyze::waits(place.all->calls, place.line->text);
}

/// The line in which other threads of the program spend most of their time, without waits; nullptr if none
/// takes kSomeOfCost of the window.
const analyze::WorkerLine* busiest_elsewhere(const Evidence& e) {
  const auto all = e.mine(e.reports().lines.elsewhere.threads, "Lines of other threads");
  return all.empty() || all.front()->share < kSomeOfCost ? nullptr : all.front();
}

/// What to do where a line waits. `producer`: what other threads do meanwhile; may be nullptr.
std::string remedy_of_wait(const OwnPlace& place, const analyze::WorkerLine* producer) {
  if (producer == nullptr)
    return fmt::format(
        "{} waits there. Find out for what: do that earlier or beside the step, make it faster, or keep what "
        "is "
        "made anew, such as a pool of threads.",
        place.spoken());
  return fmt::format(
      "Make {} cheaper, or do it in several processes (a DataLoader with workers): threads of one process "
      "take "
      "turns in Python. Let it run further ahead: a longer queue.",
      placed(producer->line));
}

std::optional<Claim> own_line(const Evidence& e, Bound bound) {
  if (bound != Bound::host_only || !computes_on_cpu(e)) return std::nullopt;
  const auto place = dearest_place(e, &analyze::LineNode::besides);
  if (!place || e.share(place->cost) < kOwnShare) return std::nullopt;
  const bool on_each = all_ranks_do_it(e, *place);
  const bool waiting = waits(*place);
  const analyze::WorkerLine* producer = waiting ? busiest_elsewhere(e) : nullptr;
  const std::string meanwhile =
      producer == nullptr
          ? ""
          : fmt::format(
                "; it waits there for other threads, mostly in {}{} ({} of the window, all threads together)",
                quoted_line(producer->line, producer->text),
                producer->calls.empty() ? "" : ", in " + report::short_name(placed(producer->calls), 60),
                percent(producer->share));
  const bool in_hooks = 2 * place->line->in_backward > place->line->total;
  Claim f = claim(e, RuleId::H11,
                  fmt::format("{} are spent in {}, {}{}", of_step(e, place->cost), place->quoted(),
                              in_hooks  ? "in hooks of the backward pass"
                              : on_each ? "on each rank, outside forward, backward and optimizer"
                                        : "outside forward, backward and optimizer",
                              also_inside(*place, e.steps()) + meanwhile + grown(*place) +
                                  place->called_by() + place->rest(e.steps())));
  save(f, with_all_of_the_line(*place) / e.steps(), 0, kSlowedToo);
  f.confidence = Confidence::medium;
  f.because = "samples of the stack name the line; how much of it can go depends on what it computes";
  f.evidence = {see::lines(fmt::format("besides, {}{}", per_step(e, place->cost), place->callee()))};
  f.remedy = waiting
                 ? remedy_of_wait(*place, producer)
                 : fmt::format(
                       "{}At {}: compute once, before the loop, what does not change; replace Python loops "
                       "and row-by-row "
                       "access by one operation on all elements; leave out what nothing reads, or do it "
                       "every N steps.",
                       on_each ? "If all ranks do this on the same data, such as an evaluation, give each "
                                 "its part and add the "
                                 "results up with all_reduce. "
                               : "",
                       place->spoken());
  f.verify = "The line falls under 10 % of `besides` in `stepscope show lines`.";
  f.line = place->line->line;
  f.effort = Effort::code;
  return f;
}

std::optional<Claim> short_operators(const Evidence& e, Bound bound) {
  const analyze::LineSums* sums = line_sums(e);
  if (bound != Bound::host_only || !computes_on_cpu(e) || sums == nullptr || sums->short_ops == 0)
    return std::nullopt;
  const std::int64_t cost = sums->calling + sums->back;
  if (e.share(cost) < kCallingShare || sums->short_ops < kManyShort) return std::nullopt;
  const auto place = dearest_place(e, &analyze::LineNode::calling);
  const bool placed_well =
      place && static_cast<double>(place->cost) >= kMostOfCost / 2 * static_cast<double>(cost);
  const std::string where =
      placed_well ? "; most of them by " + place->quoted() + place->called_by() + place->rest(e.steps()) : "";
  Claim f = claim(e, RuleId::H12,
                  fmt::format("{} short operators per step, {} each, take {} of {}{}",
                              format_value(sums->short_ops / e.steps(), Unit::count),
                              ns(cost / sums->short_ops), ns(cost / e.steps()), ns(e.step_length()), where));
  // More rounds than parameters are a loop over the data, not the layers of a model.
  const std::int64_t parameters = e.launched_in(kAccumulate).ranges;
  const bool loops = placed_well && place->repeats > parameters && cost <= kCallAlone * sums->short_ops;
  save(f, cost / e.steps(), loops ? kShortLeast : 0, kShortMost);
  f.confidence = loops ? Confidence::medium : Confidence::low;
  f.general = !loops;
  f.because = loops ? "such short operators take about as long to call as to compute"
                    : "they may be the layers of a model, or compute longer than they take to call";
  f.evidence = {see::lines(fmt::format("calling, {}, {} of it in the backward pass", per_step(e, cost),
                                       percent(report::ratio(sums->back, cost))))};
  f.remedy = fmt::format(
      "{}call them once on larger tensors: a batch instead of one sample at a time, a layer over the whole "
      "sequence (nn.GRU, nn.LSTM) instead of one cell per time step, indexing, scatter or index_add instead "
      "of "
      "a loop over elements; torch.inference_mode() where nothing goes backward; else torch.compile.",
      placed_well ? fmt::format("At {}: ", place->spoken()) : "");
  f.vague = !placed_well;
  f.verify = "Fewer `ops` in `stepscope show lines`, and less `calling`.";
  f.effort = Effort::code;
  return f;
}

std::optional<Claim> parametrized_again(const Evidence& e, Bound bound) {
  if (bound != Bound::host_only || !computes_on_cpu(e)) return std::nullopt;
  const auto place = dearest_place(e, &analyze::LineNode::parametrizing);
  if (!place || e.share(place->cost) < kParametrizedShare || place->repeats < 2 * e.steps())
    return std::nullopt;
  Claim f =
      claim(e, RuleId::H23,
            fmt::format("{}: a parametrized weight is computed anew at each access, up to {} times, in {}{}",
                        of_step(e, place->cost), format_value(place->repeats / e.steps(), Unit::count),
                        place->quoted(), place->called_by() + place->rest(e.steps())));
  save(f, place->cost / e.steps(), kParametrizedLeast, kParametrizedMost);
  f.confidence = Confidence::medium;
  f.because =
      "samples of the stack are in torch.nn.utils.parametrize; the backward pass goes through each "
      "computation";
  f.evidence = {see::lines(fmt::format("parametrizing, {}", per_step(e, place->cost)))};
  f.remedy =
      "with torch.nn.utils.parametrize.cached(): around the forward pass, which computes each weight once; "
      "or read "
      "the weight once before the loop, and call torch.nn.functional with it.";
  f.verify = "Less `parametrizing` in `stepscope show lines`.";
  f.line = place->line->line;
  f.effort = Effort::one_line;
  return f;
}

constexpr Rule kOwnLineRules[] = {
    {RuleId::H11, "a line of the program takes much of the step besides the model", false, own_line,
     R"(Looks at: *Lines by caller* of `lines`, `besides`: time in the phase other, without data, forward, backward and
optimizer, and of lines that the backward pass calls, what is not in operators. Follows the dearest line down its calls while one called line holds kMostOfCost. If the call reached does
nothing else (kMostOfCost of its time) and is not the program itself (kWholeProgram), it is the place, and the lines
below it are listed. Else the place is the line with the largest own part, without the lines below it, over all its
callers, if that is kMuchOfCost of the whole, and no other function's lines hold kClearlyMore. Else, if it is called in several lines, the function whose lines hold
kMuchOfCost. Lists three more lines of at least kSomeOfCost, and the lines that call
it. Fires, where no device works, if the line takes kOwnShare of the window.

Saving: nothing to kSlowedToo of that time: whether it is needed is not in the file. Of a line, also of its time in the
forward pass, of the backward pass through it, and of the listed lines of the same function. Calls tell of functions, not of lines:
there, modules and the backward pass do not count.

If the line waits for other threads (a queue, a pool, join), names the line in which these spend most of their time (*Lines of other threads* of
`lines`), if that is kSomeOfCost of the window.

Silent on: programs without Python stacks; time in the forward pass (H12), in the loader (I01, I02).)"},
    {RuleId::H12, "many short operators instead of a few long ones", false, short_operators,
     R"(Looks at: `calling` of `lines`: operators under 100 µs, each until the next one begins, with autograd's
nodes. Fires, where no device works, if they take kCallingShare of the window and there are kManyShort of
them. The line is the one that calls most of them, forward and backward; without Python stacks, none is named.

Saving: kShortLeast to kShortMost of that time. From 0 if no line calls most of them, or none of its operators
runs more often than the model has parameters with gradients: then they may be layers. From 0, too, if they take more than
kCallAlone on average: then they compute. Then confidence is low, and the finding comes
behind others as H10 does.

Silent on: the optimizer's operators (H03).)"},
    {RuleId::H23, "a parametrized weight is computed at each access", false, parametrized_again,
     R"(Looks at: `parametrizing` of *Lines by caller* of `lines`: samples or calls in torch.nn.utils.parametrize, by the
program's line that accesses the weight. Fires, where no device works, if that takes kParametrizedShare of the window and
an operator of the line runs twice per step or more.

Saving: kParametrizedLeast to kParametrizedMost times that time.

Silent on: programs without Python stacks.)"},
};

}  // namespace

std::span<const Rule> own_line_rules() { return kOwnLineRules; }

}  // namespace stepscope::advise
