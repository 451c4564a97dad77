// Rules of what the recorder saw of a training step: gradients that nobody reads (G05), a graph gone through
// again (G06), dense gradients of embeddings (H13), debug switches (H14).
#include <fmt/format.h>

#include <algorithm>

#include "advise/own_places.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Unit;

const analyze::RankFacts* facts_of(const Evidence& e) {
  const auto own = e.mine(e.reports().overview.ranks, "Overview");
  return own.empty() ? nullptr : own.front();
}

/// Gradients of gradients: a loss of derivatives needs the gradients of data that a backward pass also
/// accumulates.
bool goes_through_gradients(const Evidence& e) {
  const analyze::LineSums* sums = line_sums(e);
  return sums != nullptr && static_cast<double>(sums->deeper) > kMaxDeeper * static_cast<double>(sums->nodes);
}

/// A tensor of data with requires_grad: its gradient is computed and added up in every step.
std::optional<Claim> input_gradients(const Evidence& e, Bound bound, const analyze::RankFacts& facts) {
  const double share =
      report::ratio(facts.input_gradients, report::plus(facts.gradients, facts.input_gradients));
  if (facts.input_gradients == report::kNoInt || facts.input_gradients == 0 || share < kUnreadShare ||
      goes_through_gradients(e))
    return std::nullopt;
  const bool one = facts.input_tensors == 1;
  Claim f = claim(e, RuleId::G05,
                  fmt::format("The backward pass computes the gradient{} of {}, and accumulates {} in .grad",
                              one ? "" : "s",
                              one ? fmt::format("a tensor of {} that is no parameter", facts.input_shape)
                                  : fmt::format("{} tensors that are no parameters, the largest of {}",
                                                facts.input_tensors, facts.input_shape),
                              one ? "it" : "them"));
  if (bound == Bound::host_only)
    save(f, e.time_in(analyze::Phase::backward) / e.steps(), 0, std::min(kInputMost, share));
  f.confidence = Confidence::medium;
  f.because = "it has a gradient after a step, and is in no module and no optimizer; the program may read it";
  f.evidence = {see::overview("input_gradients, of gradients"), see::phases("backward")};
  f.remedy =
      "Leave requires_grad off for data: no requires_grad=True, no requires_grad_(). Where the program needs "
      "that gradient, torch.autograd.grad(loss, x) returns it without adding it up.";
  f.verify = "No input_gradients in `stepscope show overview`, and a shorter backward pass in `phases`.";
  f.effort = Effort::one_line;
  return f;
}

std::optional<Claim> unread_gradients(const Evidence& e, Bound bound) {
  const analyze::RankFacts* facts = facts_of(e);
  if (facts == nullptr || facts->gradients == report::kNoInt || facts->gradients == 0) return std::nullopt;
  const double share = report::ratio(facts->unread_gradients, facts->gradients);
  if (share < kUnreadShare) return input_gradients(e, bound, *facts);
  const bool by_shape = facts->gradients_by_shape;
  if (by_shape && goes_through_gradients(e)) return std::nullopt;
  Claim f = claim(e, RuleId::G05,
                  fmt::format("The backward pass computes gradients that no optimizer reads: those of {} "
                              "{}, {} of all elements ({}{}{})",
                              format_value(facts->unread_parameters, Unit::count),
                              by_shape ? "tensors" : "parameters", percent(share), by_shape ? "of " : "",
                              facts->unread_names, facts->unread_parameters > 3 ? ", …" : ""));
  if (bound == Bound::host_only)
    save(f, e.time_in(analyze::Phase::backward) / e.steps(), by_shape ? 0 : kUnreadLeast * share, 1);
  f.confidence = by_shape ? Confidence::medium : Confidence::high;
  f.because =
      by_shape
          ? "gradients of these shapes are accumulated, and no operator of an optimizer gets tensors of them"
          : "the gradients and the optimizers' parameters were compared in one step";
  f.evidence = {see::overview("unread_gradients, of gradients"), see::phases("backward")};
  f.remedy =
      "If these layers are frozen: module.requires_grad_(False), or run them under torch.no_grad(), so that "
      "the backward pass ends above them. If they are another part of the program, such as a generator: "
      "detach() what it gives to this loss. Else give their parameters to the optimizer.";
  f.verify = "No unread_gradients in `stepscope show overview`, and a shorter backward pass in `phases`.";
  f.effort = Effort::one_line;
  return f;
}

std::optional<Claim> backward_again(const Evidence& e, Bound bound) {
  const analyze::LineSums* sums = line_sums(e);
  if (bound != Bound::host_only || sums == nullptr || e.share(sums->again) < kAgainShare ||
      goes_through_gradients(e))
    return std::nullopt;
  const auto place = dearest_place(e, &analyze::LineNode::in_backward);
  Claim f =
      claim(e, RuleId::G06,
            fmt::format("The backward pass goes through the same operators several times: {} are repeated{}",
                        of_step(e, sums->again), place ? "; mostly in " + place->quoted() : ""));
  save(f, sums->again / e.steps(), kAgainLeast, kSlowedToo);
  f.confidence = Confidence::high;
  f.because = "autograd's nodes carry the number of the operator that they go through";
  f.evidence = {see::lines("again, " + per_step(e, sums->again))};
  f.remedy =
      "Add the losses and call backward() once: (loss_a + loss_b).backward(). retain_graph=True is then not "
      "needed.";
  f.verify = "No time `again` in `stepscope show lines`.";
  f.effort = Effort::one_line;
  return f;
}

/// Host time of the backward operators that fill dense gradients of embeddings, ns in the recording.
std::int64_t dense_backward(const Evidence& e) {
  std::int64_t time = 0;
  for (const analyze::Operator* own : e.mine(e.reports().operators.operators, "Operators"))
    if (own->name == "aten::embedding_dense_backward") report::add_to(time, own->host_total);
  return time;
}

std::optional<Claim> dense_embedding(const Evidence& e, Bound bound) {
  const analyze::RankFacts* facts = facts_of(e);
  if (facts == nullptr || facts->gradients == report::kNoInt) return std::nullopt;
  const trace::Training::Embedding* largest = nullptr;
  std::int64_t unused = 0;  // elements of rows without a gradient
  for (const trace::Training::Embedding& of : facts->embeddings) {
    const double touched = report::ratio(of.touched, of.rows);
    if (touched > kTouchedMost) continue;
    unused += static_cast<std::int64_t>((1 - touched) * static_cast<double>(of.elements));
    if (largest == nullptr || of.elements > largest->elements) largest = &of;
  }
  if (largest == nullptr || facts->gradients == 0) return std::nullopt;
  const double share = std::min(1.0, report::ratio(unused, facts->gradients));
  const auto optimizer =
      static_cast<std::int64_t>(share * static_cast<double>(e.time_in(analyze::Phase::optimizer)));
  const std::int64_t cost = report::plus(optimizer, dense_backward(e));
  if (bound == Bound::host_only && e.share(cost) < kOptimizerShare) return std::nullopt;
  Claim f =
      claim(e, RuleId::H13,
            fmt::format(
                "Each step fills and applies a dense gradient of {} rows of {} ({}), {}{} of which were used",
                format_value(largest->rows, Unit::count), largest->name,
                format_value(largest->bytes, Unit::bytes), facts->gradients_by_shape ? "at most " : "",
                percent(report::ratio(largest->touched, largest->rows))));
  if (bound == Bound::host_only) save(f, cost / e.steps(), kSparseLeast, 1);
  f.confidence = Confidence::high;
  f.because = facts->gradients_by_shape
                  ? "a step looks up no more rows than that, by the shapes of its operators"
                  : "the rows with a gradient were counted in one step";
  f.evidence = {see::overview("gradients"),
                see::phases(fmt::format("optimizer, {}", per_step(e, optimizer)))};
  f.remedy = fmt::format(
      "nn.Embedding(..., sparse=True) for {} with torch.optim.SparseAdam (or SGD), and the other parameters "
      "in "
      "their own optimizer. Rows that are not used then keep their momentum, so results change a little. "
      "DDP over NCCL and FSDP reduce dense gradients only.",
      largest->name);
  f.verify = "A shorter optimizer in `stepscope show phases`; no aten::embedding_dense_backward.";
  f.effort = Effort::code;
  return f;
}

std::optional<Claim> anomaly_detection(const Evidence& e, Bound bound) {
  const analyze::RankFacts* facts = facts_of(e);
  if (facts == nullptr || facts->anomaly != 1) return std::nullopt;
  const analyze::LineSums* sums = line_sums(e);
  const std::int64_t tracing = sums == nullptr ? 0 : sums->tracing;
  Claim f =
      claim(e, RuleId::H14,
            "Anomaly detection is on: PyTorch keeps a Python stack for every operator and checks every "
            "gradient for NaN" +
                (tracing == 0 ? "" : fmt::format("; formatting the stacks takes {}", of_step(e, tracing))));
  if (bound == Bound::host_only) {
    const std::int64_t passes =
        report::plus(e.time_in(analyze::Phase::forward), e.time_in(analyze::Phase::backward));
    save(f, passes / e.steps(), 0, kAnomalyMost);
    f.saving_low = static_cast<std::int64_t>(kTracingLeast * static_cast<double>(tracing)) / e.steps();
  }
  f.confidence = Confidence::high;
  f.because = "torch.is_anomaly_enabled() was true in a recorded step";
  f.evidence = {see::overview("anomaly"), see::python_stacks("traceback.py")};
  f.remedy =
      "Remove torch.autograd.set_detect_anomaly(True), or detect_anomaly() around the step; turn it on only "
      "to "
      "look for a NaN.";
  f.verify = "No frame of traceback.py in `stepscope show python_stacks`.";
  f.effort = Effort::one_line;
  return f;
}

constexpr Rule kTrainingRules[] = {
    {RuleId::G05, "gradients are computed that no optimizer reads", false, unread_gradients,
     R"(Looks at: `unread_gradients` and `gradients` of `overview`, which `stepscope record` counts once, from the first
optimizer's step to its next: what another optimizer reads meanwhile is read, unless it was thrown away before. Fires if kUnreadShare of the elements belongs to parameters of no optimizer.

Else if it belongs to tensors that are no parameters (`input_gradients`), such as data with requires_grad.

Saving: where no device is recorded, kUnreadLeast of that share of the backward pass, to the whole pass. For tensors
that are no parameters, nothing to their share of it, at most kInputMost, and none of it where the backward pass goes through
gradients. Else none is estimated.

Without that count, shapes tell: gradients that autograd accumulates (torch::autograd::AccumulateGrad) of shapes that
no operator in Optimizer.step gets. Parameters that share their shape with one that is updated are missed, and the
tensors may be data: the saving then begins at 0. Not where the backward pass goes through gradients, as for G06.

Silent on: recordings of other profilers without shapes; lists of 30 tensors and more, which other profilers cut off;
programs without torch.optim.)"},
    {RuleId::G06, "the backward pass goes through the same graph several times", false, backward_again,
     R"(Looks at: autograd's nodes whose operator another node of the same kind has gone through before (`lines`, again).
Fires, where no device works, if they take kAgainShare of the window.

Saving: kAgainLeast to kSlowedToo times that time.

Silent on: gradients of gradients (more than kMaxDeeper of the nodes go through an operator that a node called), which
need the graph twice.)"},
    {RuleId::H13, "an embedding gets a dense gradient, though few rows are used", false, dense_embedding,
     R"(Looks at: embeddings with a dense gradient, counted once by `stepscope record` as for G05. Fires for those of
which at most kTouchedMost of the rows have a gradient, and, where no device is recorded, if the optimizer's
part for the other rows and aten::embedding_dense_backward take kOptimizerShare of the window. The optimizer's
part is their share of all elements.

Saving: where no device is recorded, kSparseLeast to all of that time. Else none is estimated.

Without that count, shapes tell: aten::embedding_dense_backward gets at most as many rows as indices.

Silent on: embeddings under 1,000 rows that stepscope counted; sparse gradients; recordings of other profilers without
shapes.)"},
    {RuleId::H14, "anomaly detection is on", false, anomaly_detection,
     R"(Looks at: `anomaly` of `overview`, written once by `stepscope record`. The cost is the main thread's time in
Python's traceback module, by samples.

Saving: where no device is recorded, from kTracingLeast of that time, as stacks that change fast escape samples, to
kAnomalyMost of the forward and the backward pass.

Silent on: recordings of other profilers.)"},
};

}  // namespace

std::span<const Rule> training_rules() { return kTrainingRules; }

}  // namespace stepscope::advise
