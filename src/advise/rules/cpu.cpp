// Rules of programs that run on the CPU alone (H10).
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "advise/own_places.h"
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

struct CheaperForm {
  std::string_view op;  ///< begin of its name
  std::string_view form;
};

/// Operators that often do more than what is asked, and what does less.
constexpr CheaperForm kCheaperForms[] = {
    {"aten::one_hot", "An index (nn.Embedding, weight[ids]) reads the same rows without a one-hot matrix. "},
    {"aten::linalg_",
     "If the matrix stays the same, factorize it once before the loop: torch.linalg.lu_factor "
     "or cholesky, then lu_solve or cholesky_solve. "},
    {"aten::sort", "torch.topk finds the largest few without sorting all. "},
    {"aten::argsort", "torch.topk finds the largest few without sorting all. "},
    {"aten::cat", "Write parts into one tensor made before the loop, or join them once after it. "},
    {"aten::stack", "Write parts into one tensor made before the loop, or join them once after it. "},
    {"aten::repeat", "expand() repeats a dimension of size 1 without copying. "},
    {"aten::tile", "expand() repeats a dimension of size 1 without copying. "},
    {"aten::bmm",
     "If this is attention, F.scaled_dot_product_attention, or need_weights=False of "
     "nn.MultiheadAttention, does not keep all scores. "},
    {"aten::unique", "unique() sorts everything; torch.bincount counts small whole numbers. "},
};

std::string_view cheaper_form(std::string_view op) {
  for (const CheaperForm& of : kCheaperForms)
    if (op.starts_with(of.op)) return of.form;
  return "";
}

std::string_view cheaper_form(const analyze::LineNode& line) {
  if (line.through_gradients)
    return "Each call of torch.autograd.grad goes through the graph again, and the backward pass then goes "
           "through "
           "what it computed: one call returns the gradients by several inputs, torch.autograd.grad(y, (a, "
           "b), ...). ";
  return cheaper_form(line.op);
}

/// Where the work is done, if a line calls most of it.
std::optional<Claim> dearest_line(const Evidence& e) {
  const auto place = dearest_place(e, &analyze::LineNode::work);
  if (!place || e.share(place->cost) < kCpuOperatorShare) return std::nullopt;
  const analyze::LineNode& named = place->what != OwnPlace::What::line && !place->others.empty()
                                       ? *place->others.front().line
                                       : *place->line;
  std::string ops;
  if (named.through_gradients)
    ops = ": mostly the backward pass through gradients that it computes";
  else if (!named.op.empty())
    ops = ": mostly " + named.op;
  if (!ops.empty() && !named.inputs.empty()) ops += " of " + report::short_name(named.inputs, 60);
  const analyze::LineSums* sums = line_sums(e);
  const bool goes_backward = sums != nullptr && sums->nodes > 0;
  Claim f = claim(e, RuleId::H10,
                  fmt::format("{} are operators of {}{}{}{}", of_step(e, place->cost),
                              place->quoted() + place->called_by(),
                              goes_backward ? ", forward and backward" : "", ops, place->rest(e.steps())));
  save(f, place->cost / e.steps(), 0, kWorkMost);
  f.confidence = Confidence::low;
  f.because = "samples of the stack name the line; whether all of its work is needed is not in the file";
  f.evidence = {see::lines(fmt::format("work, {}", per_step(e, place->cost)))};
  f.remedy = fmt::format(
      "{}Check whether all of {} is needed: rows that are padding, zeros or thrown away, results that were "
      "computed before. Then torch.compile, bfloat16 if the CPU supports it, torch.inference_mode() outside "
      "training.",
      cheaper_form(named), place->spoken());
  f.verify = "Less `work` of the line in `stepscope show lines`.";
  f.effort = Effort::code;
  return f;
}

/// Compiling is G01's.
bool is_compilation(std::string_view op) { return op.ends_with("(dynamo_timed)"); }

/// "; aten::mm, inside it or others, takes 40 ms, at 20 GFLOP/s": the operator with most time of its own.
std::string largest_self(const Evidence& e) {
  const analyze::Operator* most = nullptr;
  for (const analyze::Operator* own : e.mine(e.reports().operators.operators, "Operators"))
    if (!is_compilation(own->name) && (most == nullptr || own->host_self > most->host_self)) most = own;
  const std::int64_t recorded = e.fact(&Facts::host_span);
  if (most == nullptr || recorded <= 0) return "";
  const double share = report::ratio(most->host_self, recorded);
  if (share < kCpuOperatorShare) return "";
  const auto time = static_cast<std::int64_t>(share * static_cast<double>(e.step_length()));
  return fmt::format(
      "{} takes {}{}", most->name, ns(time),
      most->flop_rate > 0 ? ", at " + report::format_value(most->flop_rate, report::Unit::flop_per_s) : "");
}

/// Without a line: the call with most work, or the operator with most time of its own.
std::optional<Claim> largest_operator(const Evidence& e) {
  auto calls = e.mine(e.reports().lines.calls, "Work by call");
  std::erase_if(calls, [](const auto* of) { return is_compilation(of->op); });
  const analyze::CallWork* call =
      !calls.empty() && e.share(calls.front()->work()) >= kCpuOperatorShare ? calls.front() : nullptr;
  const std::string self = largest_self(e);
  if (call == nullptr && self.empty()) return std::nullopt;
  std::string title = self + fmt::format(" of {} per step", ns(e.step_length()));
  if (call != nullptr)
    title = fmt::format("{} are {} × {}{}{}{}{}", of_step(e, call->work()),
                        format_value(std::max<std::int64_t>(1, call->calls / e.steps()), report::Unit::count),
                        call->op, call->inputs.empty() ? "" : " of " + report::short_name(call->inputs, 60),
                        call->backward > 0 ? ", forward and backward" : "", self.empty() ? "" : "; ", self);
  Claim f = claim(e, RuleId::H10, std::move(title));
  f.confidence = Confidence::low;
  f.because = "the file does not show how fast this CPU could be or how many threads it may use";
  f.evidence = {see::lines("work by call"), see::operators("host_self, flop_rate")};
  f.remedy = fmt::format(
      "{}Ask whether all of it is needed, and on so many elements. with_stack=True (stepscope record: "
      "--stacks calls) names the line. Then torch.compile, {}bfloat16 if the CPU supports it, "
      "torch.inference_mode() outside training.",
      cheaper_form(call != nullptr ? call->op : ""),
      (call != nullptr ? call->op : self).find("conv") != std::string_view::npos ? "channels_last, " : "");
  f.verify = "Less time in these calls in `stepscope show lines`.";
  f.effort = Effort::one_line;
  return f;
}

std::optional<Claim> cpu_operator(const Evidence& e, Bound bound) {
  if (bound != Bound::host_only || !computes_on_cpu(e)) return std::nullopt;
  std::optional<Claim> f = dearest_line(e);
  if (!f) f = largest_operator(e);
  if (f) f->general = true;
  return f;
}

/// The line whose dearest operator it is, with inputs of these shapes, or nullptr.
const analyze::LineNode* line_of(const Evidence& e, const std::string& op, const std::string& inputs) {
  const analyze::LineNode* most = nullptr;
  for (const analyze::LineNode* node : e.mine(e.reports().lines.nodes, "Lines by caller"))
    if (node->op == op && node->inputs == inputs && (most == nullptr || node->self > most->self)) most = node;
  return most;
}

std::optional<Claim> crossed_operands(const Evidence& e, Bound bound) {
  if (bound != Bound::host_only || !computes_on_cpu(e)) return std::nullopt;
  const analyze::CrossedCall* most = nullptr;
  for (const analyze::CrossedCall* of : e.mine(e.reports().lines.crossed, "Results of crossed operands"))
    if (most == nullptr || of->work > most->work) most = of;
  if (most == nullptr || e.share(most->work) < kCrossedShare) return std::nullopt;
  const analyze::LineNode* line = line_of(e, most->op, most->inputs);
  const auto place = dearest_place(e, &analyze::LineNode::element_wise);
  const std::string maker = line == nullptr ? "" : " in " + quoted_line(line->line, line->text);
  const std::string worker = line == nullptr && place ? ", mostly in " + place->quoted() : "";
  Claim f = claim(
      e, RuleId::H18,
      fmt::format("{} of {}{} makes {}: {} work on results of that shape{}", most->op,
                  report::short_name(most->inputs, 40), maker, most->result, of_step(e, most->work), worker));
  save(f, most->work / e.steps(), kCrossedLeast, kSlowedToo);
  f.confidence = Confidence::high;
  f.because =
      "the shapes of the operands are recorded; one of them has a dimension of 1 that the other lacks";
  f.evidence = {see::lines("results of crossed operands")};
  f.remedy =
      "Give both operands the same shape: squeeze(-1) on the one with the 1, or unsqueeze(-1) on the other. "
      "PyTorch broadcasts them silently (F.mse_loss warns), and a loss of all pairs also trains for the "
      "wrong "
      "thing.";
  f.verify = "No row in `Results of crossed operands` of `stepscope show lines`.";
  f.effort = Effort::one_line;
  return f;
}

std::optional<Claim> scattered_rows(const Evidence& e, Bound bound) {
  if (bound != Bound::host_only || !computes_on_cpu(e)) return std::nullopt;
  const auto picks = e.mine(e.reports().lines.scattered, "Rows picked from columns");
  if (picks.empty() || e.share(picks.front()->time) < kScatteredShare) return std::nullopt;
  const analyze::ScatteredRows& most = *picks.front();
  const analyze::LineNode* line = line_of(e, most.op, most.inputs);
  Claim f = claim(e, RuleId::H20,
                  fmt::format("{}: {} picks rows of a tensor that is stored column-major, {}{}",
                              of_step(e, most.time), most.op, report::short_name(most.inputs, 40),
                              line == nullptr ? "" : ", in " + quoted_line(line->line, line->text)));
  save(f, most.time / e.steps(), kScatteredLeast, kScatteredMost);
  f.confidence = Confidence::high;
  f.because = "the strides of the operand are recorded: each element of a row lies in another part of memory";
  f.evidence = {see::lines(fmt::format("rows picked from columns, {}", per_step(e, most.time)))};
  f.remedy =
      "Make the tensor row-major once, before the loop: x = x.contiguous(), or np.ascontiguousarray() of an "
      "array from pandas, which stores tables by column.";
  f.verify = "No row in `Rows picked from columns` of `stepscope show lines`.";
  f.effort = Effort::one_line;
  return f;
}

/// The line whose assignment to a slice costs most in the backward pass; nullptr if no stacks are recorded.
const analyze::LineNode* assigning_line(const Evidence& e) {
  const analyze::LineNode* most = nullptr;
  for (const analyze::LineNode* node : e.mine(e.reports().lines.nodes, "Lines by caller"))
    if (node->op == "aten::copy_" && node->backward > (most == nullptr ? 0 : most->backward)) most = node;
  return most;
}

std::optional<Claim> copied_slices(const Evidence& e, Bound bound) {
  if (bound != Bound::host_only || !computes_on_cpu(e)) return std::nullopt;
  const analyze::Launched& copies = e.launched_in("autograd::CopySlices");
  if (copies.ranges < 2 * e.steps() || e.share(copies.host) < kSlicesShare) return std::nullopt;
  const analyze::LineNode* line = assigning_line(e);
  Claim f =
      claim(e, RuleId::H21,
            fmt::format("{}: the backward pass copies a whole gradient {} times, once for "
                        "each assignment to a slice{}",
                        of_step(e, copies.host), format_value(copies.ranges / e.steps(), report::Unit::count),
                        line == nullptr ? "" : " in " + quoted_line(line->line, line->text)));
  save(f, copies.host / e.steps(), kSlicesLeast, kSlowedToo);
  f.confidence = Confidence::high;
  f.because =
      "its nodes, CopySlices, are in the file: each copies the gradient of the tensor that it writes into";
  f.evidence = {see::operators("CopySlices")};
  f.remedy =
      "Append the parts to a list in the loop, and join them once after it: torch.stack(parts, dim), or "
      "torch.cat().";
  f.verify = "No CopySlices in `stepscope show operators`.";
  f.effort = Effort::code;
  return f;
}

std::optional<Claim> awkward_fft(const Evidence& e, Bound bound) {
  if (bound != Bound::host_only || !computes_on_cpu(e)) return std::nullopt;
  const auto ffts = e.mine(e.reports().lines.ffts, "Fourier transforms of awkward lengths");
  if (ffts.empty() || e.share(ffts.front()->time) < kFftShare) return std::nullopt;
  const analyze::AwkwardFft& most = *ffts.front();
  const analyze::LineNode* line = line_of(e, most.op, most.inputs);
  const std::string length = format_value(most.length, report::Unit::count);
  Claim f = claim(e, RuleId::H22,
                  fmt::format("{}: Fourier transforms of {} points, whose prime factor {} makes them "
                              "slow{}",
                              of_step(e, most.time), length, format_value(most.factor, report::Unit::count),
                              line == nullptr ? "" : ", in " + quoted_line(line->line, line->text)));
  save(f, most.time / e.steps(), kFftLeast, kFftMost);
  f.confidence = Confidence::high;
  f.because = "the length is recorded; libraries are fast for lengths with small prime factors only";
  f.evidence = {see::lines(fmt::format("Fourier transforms of awkward lengths, {}", per_step(e, most.time)))};
  f.remedy = fmt::format(
      "Pad to {} points: torch.fft.rfft(x, n=n) with n = scipy.fft.next_fast_len({}). A convolution stays "
      "the same if "
      "its result is cut to its length; a spectrum gets other frequencies.",
      format_value(most.padded, report::Unit::count), most.length);
  f.verify = "No row in `Fourier transforms of awkward lengths` of `stepscope show lines`.";
  f.effort = Effort::one_line;
  return f;
}

std::optional<Claim> unused_accelerator(const Evidence& e, Bound bound) {
  if (bound != Bound::host_only || e.unused_accelerator().empty()) return std::nullopt;
  Claim f = claim(e, RuleId::H19,
                  fmt::format("The CPU does all the work: the program gives this machine's {} none",
                              e.unused_accelerator()));
  f.confidence = Confidence::high;
  f.because = "the recorder watched the device, and the program launched nothing on it";
  f.evidence = {see::overview("launches, 0")};
  f.remedy =
      "Move the model and every batch to it: model.to(\"cuda\"), batch.to(\"cuda\", non_blocking=True); then "
      "record again. A very small model may be faster on the CPU.";
  f.verify = "The report names kernels and says how busy the device is.";
  f.effort = Effort::one_line;
  return f;
}

constexpr Rule kCpuRules[] = {
    {RuleId::H10, "one operator takes much of the step on the CPU", false, cpu_operator,
     R"(Looks at: the line of `lines` with most `work`, found as for H11. Fires if it holds kCpuOperatorShare of the
window and no work of a device nor a launch is recorded. Without such a line: the call with most work
(*Work by call*), and the operator with most time of its own (`operators`: `host_self` ÷ `host_span` of `overview`).

Saving: for a line, nothing to kWorkMost of its work: whether it is needed is not in the file. For an operator, and
where a rule of the same work fires (K01, K09, P03, G05, G06, H05, H12, H14, H18, H20, H21, H22, H23, I07), none is estimated. It
comes behind all findings of medium or high confidence whose middle is kMuchShare of the step.

Silent on: recordings that lack their device events.)"},
    {RuleId::H18, "operands of N × 1 and N elements broadcast to N × N", false, crossed_operands,
     R"(Looks at: *Results of crossed operands* of `lines`: an operator that pairs elements, such as a subtraction, gets
N × 1 and N elements. Fires, where no device works, if work on results of that shape takes kCrossedShare of the
window. Names the line that calls the operator.

Saving: kCrossedLeast to kSlowedToo of that work.

Silent on: recordings without shapes; operands with as many dimensions, which are crossed on purpose.)"},
    {RuleId::H19, "the machine has an accelerator, and the program does not use it", false,
     unused_accelerator,
     R"(Looks at: whether the recorder watched a device, and `launches` of `overview`. Fires if it did and there are none.

Saving: none is estimated: how fast the device would be is not in the file.

Silent on: files of torch.profiler, which do not say whether devices were watched.)"},
    {RuleId::H20, "rows are picked from a tensor that lies by columns", false, scattered_rows,
     R"(Looks at: *Rows picked from columns* of `lines`. Fires, where no device works, if the calls with most time take
kScatteredShare of the window. Names the line whose dearest operator it is.

Saving: kScatteredLeast to kScatteredMost of that time.

Silent on: recordings without strides.)"},
    {RuleId::H21, "the backward pass copies a whole gradient for each assignment to a slice", false,
     copied_slices,
     R"(Looks at: autograd's nodes `CopySlices`, which `x[:, i] = part` makes where x needs a gradient. Fires, where no
device works, if there are two per step and they take kSlicesShare of the window. Names the line whose copies take
most of the backward pass.

Saving: kSlicesLeast to kSlowedToo of their time.)"},
    {RuleId::H22, "Fourier transforms have a length with a large prime factor", false, awkward_fft,
     R"(Looks at: *Fourier transforms of awkward lengths* of `lines`. Fires, where no device works, if those of one length
take kFftShare of the window. Names the line whose dearest operator calls them.

Saving: kFftLeast to kFftMost of their time.

Silent on: recordings without shapes; other dimensions than the last.)"},
};

}  // namespace

std::span<const Rule> cpu_rules() { return kCpuRules; }

}  // namespace stepscope::advise
