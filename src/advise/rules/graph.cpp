// Rules of compiled programs and autograd's graph (G).
#include <fmt/format.h>

#include <algorithm>

#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/rules/on_cpu.h"
#include "advise/say.h"
#include "advise/see.h"
#include "base/text.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Unit;

std::string count(std::int64_t n) { return format_value(n, Unit::count); }

std::int64_t late_idle(const Evidence& e) {
  std::int64_t late = 0;
  for (const IdleCause cause : kLateCauses) late += e.idle(cause);
  return late;
}

/// Ranges in which something is compiled or loaded. They nest, so only the longest kind counts.
const analyze::Launched& compilation(const Evidence& e) {
  const analyze::Launched* most = &e.launched_in("(dynamo_timed)");
  for (const AskedRange part :
       {AskedRange("_dynamo/convert_frame.py"), AskedRange("triton/compiler/"), AskedRange("ModuleLoad")})
    if (const analyze::Launched& other = e.launched_in(part); other.host > most->host) most = &other;
  return *most;
}

std::optional<Claim> compile_in_window(const Evidence& e, Bound) {
  const analyze::Launched& compiled = compilation(e);
  const bool again = e.share(compiled.later_host) >= kCompileShare;
  if (compiled.ranges == 0 || e.share(compiled.host) < kCompileShare) return std::nullopt;
  Claim f = claim(
      e, RuleId::G01,
      again
          ? fmt::format(
                "{} of compilation after the second step, {} times: the program is compiled again and again",
                ns(compiled.later_host), count(compiled.later_ranges))
          : fmt::format("{} of compilation in the recorded steps: they are not warmed up",
                        ns(compiled.host)));
  f.confidence = Confidence::medium;
  f.because = "the compiler's own ranges are in the file";
  f.evidence = {see::call_tree("dynamo, inductor and triton ranges, module loading")};
  if (again) {
    save(f, compiled.host / e.steps(), kCompilePessimism, 1);
    change(f,
           {scale_any(Scale::What::host,
                      {"(dynamo_timed)", "_dynamo/convert_frame.py", "triton/compiler/", "ModuleLoad"}, 0)},
           kCompilePessimism);
    f.remedy =
        "TORCH_LOGS=recompiles shows why: torch._dynamo.mark_dynamic() or torch.compile(dynamic=True) for "
        "sizes that change, or pad lengths into a few buckets.";
    f.verify = "No compilation after the second step.";
    f.effort = Effort::one_line;
  } else {
    f.remedy =
        "Record later: torch.profiler.schedule(wait=1, warmup=3, active=5). Keep TORCHINDUCTOR_CACHE_DIR on "
        "a disk that outlives the job.";
    f.verify = "No compiler ranges in the recording.";
  }
  return f;
}

std::optional<Claim> graph_breaks(const Evidence& e, Bound bound) {
  const analyze::Launched& pieces = e.launched_in("Torch-Compiled Region");
  const std::int64_t late = late_idle(e), eager = e.fact(&Facts::kernels) - pieces.events;
  if ((bound != Bound::host && bound != Bound::mixed) || pieces.ranges < kManyPieces * e.steps() ||
      e.share(late) < kBreakShare || eager < e.steps() || e.fact(&Facts::graph_launches) > 0)
    return std::nullopt;
  const double between =
      static_cast<double>(eager) / static_cast<double>(std::max<std::int64_t>(1, e.fact(&Facts::kernels)));
  const auto lost = static_cast<std::int64_t>(static_cast<double>(late) * between) / e.steps();
  Claim f =
      claim(e, RuleId::G02,
            fmt::format("The compiled program runs in {} pieces per step, with {} kernels launched between "
                        "them one by one",
                        count(pieces.ranges / e.steps()), count(eager / e.steps())));
  save(f, lost, kBreakLeast, kBreakMost);
  f.confidence = Confidence::medium;
  f.because = "compiled regions and the kernels outside them are in the file";
  f.evidence = {see::idle(fmt::format("{} of late idle time", per_step(e, late))),
                see::call_tree("Torch-Compiled Region")};
  f.remedy =
      "TORCH_LOGS=graph_breaks names the lines; torch.compile(fullgraph=True) makes them errors. Usual "
      "causes: print, .item(), data-dependent branches, operators that the compiler does not know "
      "(torch.library.custom_op).";
  f.verify = "One compiled region per step and direction.";
  f.effort = Effort::code;
  return f;
}

bool has_attention(const Evidence& e) {
  const auto operators = e.mine(e.reports().operators.operators, "Operators");
  return std::any_of(operators.begin(), operators.end(),
                     [](const auto* of) { return has(of->name, "scaled_dot_product"); });
}

std::optional<Claim> grad_in_inference(const Evidence& e, Bound bound) {
  const bool whole = e.fact(&Facts::complete_steps) == 0 || e.fact(&Facts::complete_steps) >= 3;
  const bool on_cpu = bound == Bound::host_only && computes_on_cpu(e);
  if (!whole || !(bound == Bound::host || on_cpu) || e.fact(&Facts::for_backward) <= 0 ||
      e.launched_in("Optimizer.step#").ranges > 0 ||
      e.launched_in("autograd::engine::evaluate_function").ranges > 0 ||
      e.fact(&Facts::for_backward) * 10 < e.fact(&Facts::ops))
    return std::nullopt;
  Claim f = claim(e, RuleId::G04, "Inference builds the graph for a backward pass that never runs");
  if (on_cpu)
    save(f, e.step_length(), 0, has_attention(e) ? kFastPathMost : kGradMostOnCpu);
  else
    save(f, late_idle(e) / e.steps(), kGradLeast, kGradMost);
  f.confidence = Confidence::low;
  f.because =
      "operators were recorded for backward, but neither backward nor an optimizer runs; a recording of the "
      "forward pass alone looks the same";
  f.evidence = {see::overview(fmt::format("ops_for_backward {} of {}", count(e.fact(&Facts::for_backward)),
                                          count(e.fact(&Facts::ops))))};
  f.remedy =
      "with torch.inference_mode(): around the forward pass, and model.eval(). Layers such as "
      "nn.TransformerEncoder then take a faster path.";
  f.verify = "ops_for_backward is 0 in `stepscope show overview`.";
  f.effort = Effort::one_line;
  return f;
}

constexpr Rule kGraphRules[] = {
    {RuleId::G01, "code is compiled inside the recorded steps", false, compile_in_window,
     R"(Looks at: host ranges of dynamo (`(dynamo_timed)`, `convert_frame.py`), of Triton's compiler and of
module loading. Fires when these ranges take at least kCompileShare of the window. After the second step, the
program is compiled again and again; before it, a warm-up is missing.

Saving: for repeated compilation, replay without these ranges (without a device, their time); the low end is
kCompilePessimism of it. For a missing warm-up, none.

Silent on: compiled programs that only run.)"},
    {RuleId::G02, "the compiled program is in pieces", true, graph_breaks,
     R"(Looks at: ranges `Torch-Compiled Region` and the kernels outside them; late idle time of `idle`. Fires
with at least kManyPieces such ranges per step, kernels between them, and kBreakShare of the window late idle,
when the program is host-bound or mixed.

Saving: 0.3 to 0.8 of the late idle time × the share of kernels outside compiled regions.

Silent on: captured graphs; programs that are not compiled.)"},
    {RuleId::G04, "inference builds the graph for backward", true, grad_in_inference,
     R"(Looks at: `overview`: `ops_for_backward`, operators recorded while gradients were on, on threads
whose sequence numbers grow, as each node of the graph takes one. Fires when at
least a tenth of the operators are for backward, neither backward nor an optimizer runs in three steps (or in
a recording without steps), and the program is host-bound or no device works.

Saving: kGradLeast to kGradMost of late idle time; where no device works, up to kGradMostOnCpu of the step, or kFastPathMost with attention.

Silent on: training; inference under no_grad or inference_mode.)"},
};

}  // namespace

std::span<const Rule> graph_rules() { return kGraphRules; }

}  // namespace stepscope::advise
